"""Who plans in a worker, and whether they can."""

from __future__ import annotations

import logging
from contextlib import closing
from typing import TYPE_CHECKING

from leadproof.domain.policy import Policy
from leadproof.planners.claude import ClaudePlanner
from leadproof.planners.rules import RulesPlanner
from leadproof.ports import Planner
from leadproof.settings import Settings

if TYPE_CHECKING:
    from leadproof.planners.claude_client import ClaudeClient

log = logging.getLogger("leadproof.worker")


def planners_of(settings: Settings, policy: Policy) -> dict[str, Planner]:
    """The planners of one worker: the rules, and Claude where the policy or an older version of it may want it.

    A lead keeps the policy version that it was admitted with, so whoever has configured Claude keeps it at hand; its
    library is loaded when it is first asked.

    Raises:
        ConfigurationRefused: the policy has Claude plan, and a setting that this needs is missing.
    """
    planners: dict[str, Planner] = {"rules": RulesPlanner()}
    wanted = policy.plans_with("claude")
    if wanted or settings.anthropic_api_key is not None or settings.anthropic_provider != "anthropic":
        planners["claude"] = claude = _claude(settings)
        if wanted:
            claude.connect()
    return planners


def check_planners(settings: Settings, policy: Policy) -> None:
    """Ask for the models that the policy names, before a worker takes leads for them; what is not clear is logged.

    Raises:
        ConfigurationRefused: a setting is missing, the key is not accepted, or a model is not there any more.
    """
    for said in unclear(settings, policy):
        log.warning("%s", said)


def unclear(settings: Settings, policy: Policy) -> tuple[str, ...]:
    """What is not clear about the models that the policy names, or not right for ever; a sentence each.

    Raises:
        ConfigurationRefused: as for `check_planners`.
    """
    if not policy.plans_with("claude"):
        return ()
    with closing(_claude(settings)) as claude:
        return claude.check(policy)


def _claude(settings: Settings) -> ClaudePlanner:
    return ClaudePlanner(lambda: _client(settings))


def _client(settings: Settings) -> ClaudeClient:
    from leadproof.planners.claude_client import ClaudeClient  # noqa: PLC0415 - its library costs time to import

    key = settings.anthropic_api_key
    return ClaudeClient(
        provider=settings.anthropic_provider,
        key=key.get_secret_value() if key is not None else None,
        base_url=settings.anthropic_base_url,
        region=settings.anthropic_region,
        project=settings.anthropic_project,
    )
