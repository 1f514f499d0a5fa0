"""What the starter counts. Labels come from fixed lists and the configuration, never from a delivery."""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from leadproof.domain.steps import Counts

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS: Final = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)


class Metrics:
    """The counters of one application, in a registry of their own."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._deliveries = Counter(
            "leadproof_deliveries",
            "Deliveries by source and answer",
            ("source", "status"),
            registry=self._registry,
        )
        self._events = Counter(
            "leadproof_events",
            "Lead events by source and what became of them",
            ("source", "result"),
            registry=self._registry,
        )
        self._acknowledged = Histogram(
            "leadproof_acknowledgement_seconds",
            "From a delivery's last byte to its 2xx",
            ("source",),
            registry=self._registry,
            buckets=_SECONDS,
        )
        self._decisions = Counter(
            "leadproof_decisions",
            "Decisions by verdict at the time of the answer",
            ("verdict",),
            registry=self._registry,
        )

        self._leads = Gauge("leadproof_leads", "Leads by outcome", ("outcome",), registry=self._registry)
        self._mutations = Gauge("leadproof_mutations", "Mutations by status", ("status",), registry=self._registry)
        self._reviews = Gauge(
            "leadproof_reviews_open", "Open review items by queue", ("queue",), registry=self._registry
        )
        self._held = Gauge("leadproof_quarantine_held", "Entries that wait in quarantine", registry=self._registry)
        self._oldest = Gauge(
            "leadproof_oldest_unfinished_seconds",
            "Age of the oldest lead without a final outcome, 0 where there is none",
            registry=self._registry,
        )

    def delivery(self, source: str, status: int) -> None:
        self._deliveries.labels(source, str(status)).inc()

    def events(self, source: str, counts: dict[str, int]) -> None:
        for result, count in counts.items():
            if count:
                self._events.labels(source, result).inc(count)

    def acknowledged(self, source: str, seconds: float) -> None:
        self._acknowledged.labels(source).observe(seconds)

    def decision(self, verdict: str) -> None:
        self._decisions.labels(verdict).inc()

    def standing(self, counts: Counts) -> None:
        """Take over what the ledger holds now."""
        for outcome, leads in counts.leads.items():
            self._leads.labels(outcome.value).set(leads)
        for status, mutations in counts.mutations.items():
            self._mutations.labels(status.value).set(mutations)
        self._reviews.clear()  # a queue without an open item is not in the counts
        for queue, items in counts.reviews_open.items():
            self._reviews.labels(queue).set(items)
        self._held.set(counts.quarantine_held)
        self._oldest.set(counts.oldest_unfinished_seconds or 0)

    def text(self) -> bytes:
        """Everything, as Prometheus reads it."""
        return generate_latest(self._registry)
