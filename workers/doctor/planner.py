"""Who plans: the policy's rules, or a model that has to answer."""

from __future__ import annotations

import asyncio

from leadproof.domain.policy import Policy
from leadproof.settings import Settings
from workers import planners
from workers.doctor.report import Report

PLANNER = "planner"


def without_settings(report: Report) -> None:
    report.skip("the settings cannot be read", PLANNER)


async def examine(settings: Settings, policy: Policy | None, report: Report) -> None:
    """Ask for the models that the policy names."""
    if policy is None:
        report.skip("the policy is not accepted", PLANNER)
    elif not policy.plans_with("claude"):
        report.ok(PLANNER, "the policy's rules plan, and no model is asked")
    else:
        with report.guarded(PLANNER, "check LEADPROOF_ANTHROPIC_API_KEY, and [claude] in the policy"):
            unclear = await asyncio.to_thread(planners.unclear, settings, policy)
            for says in unclear:
                report.warn(PLANNER, says, "look at [claude] in the policy")
            if not unclear:
                report.ok(PLANNER, "the key is accepted, and the models of the policy are there")
