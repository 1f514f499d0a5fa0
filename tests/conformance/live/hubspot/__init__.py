"""A HubSpot account, and the behaviours of the sandbox's HubSpot that are tried on it."""

from tests.conformance.live.hubspot import records, values
from tests.conformance.live.hubspot.account import HubSpotAccount
from tests.conformance.live.hubspot.probing import PROBES
from tests.conformance.live.hubspot.untried import UNTRIED

__all__ = ["PROBES", "UNTRIED", "HubSpotAccount", "records", "values"]
