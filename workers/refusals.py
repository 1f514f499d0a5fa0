"""What libraries and the operating system say at a start, in a sentence for whoever starts it.

Named by the error's class and not by importing it: a command that needs none of these libraries loads none.
"""

from __future__ import annotations

from typing import Any, Final

from leadproof.domain.errors import ConfigurationRefused

_RPC: Final = "temporalio.service.RPCError"
_UNAVAILABLE: Final = "starter.start.TemporalUnavailable"
_LONGEST: Final = 200
_REFUSED_US: Final = frozenset({"UNAUTHENTICATED", "PERMISSION_DENIED"})


def refusal_of(error: BaseException) -> ConfigurationRefused | None:
    """The sentence for an error that no configuration of ours should lead to; `None` for a fault of ours.

    What a file or Temporal refuses is for people to set right, wherever in a start it comes up.
    """
    kinds = {f"{kind.__module__}.{kind.__qualname__}" for kind in type(error).__mro__}
    if _UNAVAILABLE in kinds:
        return ConfigurationRefused(str(error))
    if _RPC in kinds:
        return ConfigurationRefused(_of_temporal(error))
    if isinstance(error, OSError) and error.filename is not None and error.strerror is not None:
        return ConfigurationRefused(f"{error.filename} cannot be used: {error.strerror}")
    return None


def _of_temporal(error: Any) -> str:
    status = error.status.name
    said = " ".join(str(error.message).split())[:_LONGEST].rstrip(".")
    if status == "NOT_FOUND":
        return f"Temporal does not have what was asked for ({said}); see LEADPROOF_TEMPORAL_NAMESPACE"
    if status in _REFUSED_US:
        return f"Temporal refuses our credentials ({said}); see LEADPROOF_TEMPORAL_API_KEY"
    return f"Temporal did not do what was asked ({status}: {said}); see LEADPROOF_TEMPORAL_ADDRESS"
