"""A target system under examination, and in which words its owner is told what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial

from leadproof.domain.environment import SHADOW
from leadproof.domain.policy import Policy
from leadproof.domain.records import Description
from leadproof.ports import CrmDiagnosis
from leadproof.settings import Settings, variable
from workers import compose
from workers.systems.hubspot import HUBSPOT
from workers.systems.salesforce import SALESFORCE
from workers.systems.system import System


@dataclass(frozen=True, slots=True)
class Words:
    """What a report says of one system.

    Attributes:
        credentials: the variables that hold them.
        address: the variable that holds the target's address.
        holder: who has the rights.
        grant: how rights that lack are given.
        document: where it is written which rights and fields there have to be.
        app: the setting that names the app by which the target tells our writes from others; `None` where it tells
            them by the user.
    """

    credentials: str
    address: str
    holder: str
    grant: str
    document: str
    app: str | None = None


WORDS = {
    HUBSPOT.name: Words(
        credentials="LEADPROOF_HUBSPOT_TOKEN",
        address="LEADPROOF_HUBSPOT_BASE_URL",
        holder="the token",
        grant="give its app these scopes",
        document="docs/hubspot.md",
        app="hubspot_app_id",
    ),
    SALESFORCE.name: Words(
        credentials="LEADPROOF_SALESFORCE_CLIENT_ID and the secret or the key beside it",
        address="LEADPROOF_SALESFORCE_URL",
        holder="our user",
        grant="give it these rights in a permission set",
        document="docs/salesforce.md",
    ),
}


@dataclass(frozen=True, slots=True)
class Target:
    """A target system under examination.

    Attributes:
        expected_account, expected_app: what the settings say.
        writes: whether this deployment writes to it; in shadow mode it does not.
        examined: opens it for the questions of an examination; raises `ConfigurationRefused`.
        describe: what it says of itself, in the words of a policy that names it; raises `ConfigurationRefused`.
    """

    system: System
    words: Words
    expected_account: str | None
    expected_app: str | None
    writes: bool
    examined: Callable[[], CrmDiagnosis]
    describe: Callable[[Policy], tuple[Description, ...]]

    @property
    def title(self) -> str:
        return self.system.title

    def check(self, name: str) -> str:
        return f"{self.system.name}.{name}"

    @property
    def app_variable(self) -> str:
        return variable(self.words.app or "")


def targets(settings: Settings, policy: Policy | None) -> Iterator[Target]:
    """The targets of the policy; where it is not accepted, those that have credentials."""
    for system in compose.SYSTEMS.values():
        wanted = system.name in policy.targets if policy is not None else system.has_credentials(settings)
        if wanted:
            words = WORDS[system.name]
            yield Target(
                system=system,
                words=words,
                expected_account=system.account(settings),
                expected_app=getattr(settings, words.app) if words.app is not None else None,
                writes=settings.mode != SHADOW,
                examined=partial(system.diagnosis, settings, policy),
                describe=partial(_describe, settings, system),
            )


def _describe(settings: Settings, system: System, policy: Policy) -> tuple[Description, ...]:
    with closing(system.crm(settings, policy)) as crm:
        return tuple(crm.describe(each) for each in compose.described_objects(system, policy))
