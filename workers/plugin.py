"""One plugin for client, worker and replayer, so that converter and sandbox can't drift apart."""

from __future__ import annotations

from temporalio.plugin import SimplePlugin
from temporalio.worker import WorkflowRunner
from temporalio.worker.workflow_sandbox import (
    SandboxedWorkflowRunner,
    SandboxRestrictions,
)
from temporalio.workflow import SandboxImportNotificationPolicy

from workers.beating import Beating
from workers.converter import leads_data_converter

PASSED_THROUGH = ("leadproof", "activities", "workflows.contract", "workflows.options", "phonenumbers", "rfc8785")
"""Modules that the workflow sandbox shares with the process; anything else that a workflow pulls in is refused."""


def _runner(_: WorkflowRunner | None) -> WorkflowRunner:
    restrictions = SandboxRestrictions.default.with_passthrough_modules(
        *PASSED_THROUGH
    ).with_import_notification_policy(SandboxImportNotificationPolicy.RAISE_ON_UNINTENTIONAL_PASSTHROUGH)
    return SandboxedWorkflowRunner(restrictions=restrictions)


def leads_plugin() -> SimplePlugin:
    """The project's plugin; workflow classes are not in it, or every worker of the process would poll for them."""
    return SimplePlugin(
        "leadproof", data_converter=leads_data_converter, interceptors=[Beating()], workflow_runner=_runner
    )
