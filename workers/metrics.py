"""What a worker counts for Prometheus: the calls of a target's account, as far as the target tells them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from leadproof.domain.errors import ConfigurationRefused


class CallBudget(Protocol):
    """What is known of an account's calls.

    Attributes:
        used, limit: of the account's calls a day, whoever makes them, as the latest answer told; `None` before one did.
        held: calls of this process that it did not send, so that the others' are not used up.
    """

    @property
    def used(self) -> int | None: ...

    @property
    def limit(self) -> int | None: ...

    @property
    def held(self) -> int: ...


@runtime_checkable
class Budgeted(Protocol):
    """An adapter of a target that counts an account's calls."""

    def budget(self) -> CallBudget: ...


class TargetCalls(Collector):
    """The call budgets at the moment in which they are asked for.

    Args:
        targets: the adapters by their target; one that knows no budget has no numbers.
    """

    def __init__(self, targets: Mapping[str, object]) -> None:
        self._budgeted = {name: target for name, target in targets.items() if isinstance(target, Budgeted)}

    def collect(self) -> Iterable[Metric]:
        label = ("target",)
        used = GaugeMetricFamily("leadproof_target_calls_used", "Calls of the account today, by whomever", labels=label)
        limit = GaugeMetricFamily("leadproof_target_calls_limit", "Calls that the account has a day", labels=label)
        held = CounterMetricFamily("leadproof_target_calls_held", "Calls not sent to spare the account", labels=label)
        for name, target in self._budgeted.items():
            budget = target.budget()
            if budget.used is not None and budget.limit is not None:
                used.add_metric([name], budget.used)
                limit.add_metric([name], budget.limit)
            held.add_metric([name], budget.held)
        return used, limit, held


@contextmanager
def serving(address: str | None, targets: Mapping[str, object]) -> Iterator[int | None]:
    """Serve the metrics under `/metrics`, if there is an address to serve them at.

    Args:
        address: host and port; port 0 takes any that is free.

    Yields:
        The port.

    Raises:
        ConfigurationRefused: the address cannot be had.
    """
    if address is None:
        yield None
        return
    registry = CollectorRegistry()
    registry.register(TargetCalls(targets))
    host, _, port = address.rpartition(":")
    try:
        server, thread = start_http_server(int(port), host.strip("[]"), registry)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise ConfigurationRefused(
            f"the worker's metrics cannot be served at {address} ({why}); set LEADPROOF_WORKER_METRICS to a free one"
        ) from None
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
