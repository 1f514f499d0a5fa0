"""The cases: what a CRM's adapter, the boundary and the ledger have to make of it together, whichever CRM it is."""

from tests.conformance.cases import creating, losing, people, refusing, updating
from tests.conformance.cases.registry import CASES, Case

__all__ = ["CASES", "Case", "creating", "losing", "people", "refusing", "updating"]
