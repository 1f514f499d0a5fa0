"""What has to be known of a CRM to compose, check and examine it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from leadproof.domain.diagnosis import OurField
from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.plan import TargetObject
from leadproof.domain.policy import Policy
from leadproof.ports import Candidates, ClosableCrm, CrmDiagnosis
from leadproof.settings import Settings, variable

CONNECT_SECONDS, CALL_SECONDS = 5.0, 15.0
"""Time-outs where no policy says."""


@dataclass(frozen=True, slots=True)
class System:
    """One CRM. What it calls loads the system's client library, and nothing else here does.

    Attributes:
        name: as policies and keys call it.
        title: its name for people.
        field_word: its word for a field.
        usual_object: the object that is looked at where the policy names none.
        account_setting: the setting that names the one account served.
        account_word: its word for an account.
        our_fields: the settings that name our two fields.
        how_to_make: what to do where one of our two is not there.
        has_credentials: whether the settings hold any.
        crm: the adapter; raises `ConfigurationRefused` where a setting is missing.
        diagnosis: for an examination, with default time-outs where there is no policy; raises as `crm` does.
        candidates: for a catch-up; raises as `crm` does.
        our_name: our name of the system's field, in a policy that has the system as a target.
    """

    name: str
    title: str
    field_word: str
    usual_object: TargetObject
    account_setting: str
    account_word: str
    our_fields: Mapping[OurField, str]
    how_to_make: str
    has_credentials: Callable[[Settings], bool]
    crm: Callable[[Settings, Policy], ClosableCrm]
    diagnosis: Callable[[Settings, Policy | None], CrmDiagnosis]
    candidates: Callable[[Settings, Policy], Candidates]
    our_name: Callable[[str, Policy], str | None]

    def account(self, settings: Settings) -> str | None:
        """The account that the settings name."""
        named: str | None = getattr(settings, self.account_setting)
        return named

    def check_account(self, settings: Settings, opened: str) -> None:
        """Hold the account that the credentials open against the one that the settings name.

        Raises:
            ConfigurationRefused: it is another one.
        """
        expected = self.account(settings)
        if expected is not None and opened != expected:
            raise ConfigurationRefused(
                f"the {self.title} token opens {self.account_word} {opened}, {self.account_variable} names {expected}"
            )

    @property
    def account_variable(self) -> str:
        return variable(self.account_setting)

    def our_field_names(self, settings: Settings) -> dict[OurField, str]:
        """The system's own names of our two fields."""
        return {field: getattr(settings, setting) for field, setting in self.our_fields.items()}


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Attributes:
    connect, call: seconds, as the policy says for a target.
    """

    connect: float = CONNECT_SECONDS
    call: float = CALL_SECONDS


def timeouts(policy: Policy | None, system: str) -> Timeouts:
    """The policy's for a target; the usual ones where there is no policy, or none that names it."""
    target = policy.targets.get(system) if policy is not None else None
    return Timeouts(target.connect_timeout_seconds, target.call_timeout_seconds) if target is not None else Timeouts()
