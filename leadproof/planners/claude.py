"""Claude as a planner: one question, one answer, read as a proposal that the guard then judges.

Nothing is asked twice here: whether to ask again is Temporal's to decide. A lost answer costs tokens and nothing else,
since no plan acts before it is recorded.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from leadproof.domain.errors import ConfigurationRefused, PlannerRefused
from leadproof.domain.events import Lead, LeadSnapshot
from leadproof.domain.plan import Plan, PlannerInfo
from leadproof.domain.policy import Claude, Policy
from leadproof.planners import proposal
from leadproof.planners.prompt import offered, prompt_of

if TYPE_CHECKING:
    from anthropic.types import Message

    from leadproof.planners.claude_client import ClaudeClient

_COUNTED: Final = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_START_SECONDS: Final = 10.0


class ClaudePlanner:
    """Proposes what Claude answers.

    Args:
        connect: makes the client; called once, when it is first needed, since its library costs time to import.
    """

    def __init__(self, connect: Callable[[], ClaudeClient]) -> None:
        self._connect = connect
        self._client: ClaudeClient | None = None
        self._connecting = threading.Lock()

    @property
    def kind(self) -> str:
        return "claude"

    def plan(
        self, lead: Lead, snapshot: LeadSnapshot, policy: Policy, *, stronger: bool = False
    ) -> tuple[Plan, PlannerInfo]:
        """Propose, with one call at most; see `Planner`."""
        from leadproof.planners.claude_answers import Asked, message_of, text_of  # noqa: PLC0415

        claude = policy.claude
        if claude is None:
            raise PlannerRefused("the policy has Claude plan this event and has no [claude] table")
        prompt = prompt_of(lead, snapshot, policy, claude)
        info = PlannerInfo(kind=self.kind, prompt_digest=prompt.digest, policy_digest=policy.digest)
        if not offered(policy, claude):
            return Plan(summary="The policy permits nothing that Claude could propose"), info
        model, where = _model(claude, stronger=stronger)
        try:
            client = self.connect()
        except ConfigurationRefused as refused:
            raise PlannerRefused(str(refused)) from None
        exchange = client.create(
            seconds=claude.call_timeout_seconds,
            model=model,
            max_tokens=claude.max_tokens,
            system=prompt.system,
            messages=[{"role": "user", "content": prompt.document}],
            output_config={"effort": claude.effort, "format": {"type": "json_schema", "schema": prompt.schema}},
        )
        asked = Asked(model, where, claude.max_tokens, claude.call_timeout_seconds, client.provider)
        message = message_of(exchange, asked)
        plan = proposal.plan_of(text_of(message), snapshot, policy)
        answered = str(message.model)[:200]
        return plan, info.model_copy(update={"model": answered, "usage": _usage(message, stronger=stronger)})

    def check(self, policy: Policy) -> tuple[str, ...]:
        """Ask Anthropic for the models of a policy, before anything is planned with them; nobody else tells of any.

        Returns:
            One sentence for each thing that is not clear, or not right for ever.

        Raises:
            ConfigurationRefused: the key is not accepted, or there is no such model any more.
        """
        claude, client = policy.claude, self.connect()
        if claude is None:
            return ()
        if client.provider != "anthropic":
            return (f"whether Claude can plan is not known before it is first asked: {client.provider} was not asked",)
        models = dict([_model(claude, stronger=True), _model(claude, stronger=False)])
        return tuple(said for name, where in models.items() if (said := _checked(client, name, where)) is not None)

    def connect(self) -> ClaudeClient:
        """Make the client, where there is none yet.

        Raises:
            ConfigurationRefused: a setting that it needs is missing.
        """
        with self._connecting:
            if self._client is None:
                self._client = self._connect()
            return self._client

    def close(self) -> None:
        """Close the idle connections."""
        if self._client is not None:
            self._client.close()


def _model(claude: Claude, *, stronger: bool) -> tuple[str, str]:
    """The model that is asked, and the table of the policy that names it."""
    if stronger and claude.escalation is not None:
        return claude.escalation.model, "[claude.escalation]"
    return claude.model, "[claude]"


def _checked(client: ClaudeClient, name: str, where: str) -> str | None:
    """What is not clear about a model.

    Raises:
        ConfigurationRefused: it cannot be asked.
    """
    from anthropic import AuthenticationError, NotFoundError  # noqa: PLC0415
    from anthropic.types import ModelInfo  # noqa: PLC0415

    from leadproof.planners.claude_answers import Asked, no_such_model, told_of  # noqa: PLC0415

    exchange = client.model(name, seconds=_START_SECONDS)
    asked = Asked(name, where, seconds=_START_SECONDS, provider=client.provider)
    found = exchange.value
    gone = isinstance(found, NotFoundError) and found.type == "not_found_error"
    if gone or isinstance(found, AuthenticationError):
        raise ConfigurationRefused(told_of(exchange, asked))
    if not isinstance(found, ModelInfo):
        return f"whether Claude can plan is not known yet: {told_of(exchange, asked)}"
    if found.lifecycle == "retired":
        raise ConfigurationRefused(no_such_model(asked))
    if found.lifecycle == "deprecated":
        until = f" and ends on {found.retires_at:%Y-%m-%d}" if found.retires_at is not None else ""
        return f"the model {name} is deprecated{until}; name another `model` in {where} of a new policy version"
    return None


def _usage(message: Message, *, stronger: bool) -> dict[str, Any]:
    """What the answer cost, and by which names its provider finds it again."""
    usage = message.usage
    counted = {name: getattr(usage, name, None) for name in _COUNTED}
    details = getattr(usage, "output_tokens_details", None)
    counted["thinking_tokens"] = getattr(details, "thinking_tokens", None)
    named = {
        "service_tier": getattr(usage, "service_tier", None),
        "stop_reason": message.stop_reason,
        "request_id": message._request_id,
    }
    return {
        **{name: count for name, count in counted.items() if isinstance(count, int)},
        **{name: text[:200] for name, text in named.items() if isinstance(text, str)},
        "stronger": stronger,
    }
