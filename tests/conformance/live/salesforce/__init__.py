"""A Salesforce org, and the behaviours of the sandbox's Salesforce that are tried on it."""

from tests.conformance.live.salesforce import records, values
from tests.conformance.live.salesforce.account import SalesforceAccount
from tests.conformance.live.salesforce.probing import PROBES
from tests.conformance.live.salesforce.untried import UNTRIED

__all__ = ["PROBES", "UNTRIED", "SalesforceAccount", "records", "values"]
