"""One request that decides many questions, and what can be meant by it."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from leadproof import strict_json
from leadproof.domain import keys
from leadproof.domain.errors import MalformedDelivery
from leadproof.domain.mutation import Reason, Status
from leadproof.domain.review import Decision
from starter import problems

MOST: Final = 200
"""So many questions are decided by one request at most."""

_REASONS: Final = {*Reason, *Status}
_ALSO_BEHIND: Final = frozenset({Decision.ACCEPT, Decision.ABANDON})
_FROZEN: Final = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)
_Text = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]
_Why = Annotated[str, StringConstraints(max_length=2000, pattern=r"^[^\x00]*$")]
_Id = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class AllOf(BaseModel):
    """All open questions of one reason, or those of a queue or of a target among them."""

    model_config = _FROZEN

    reason: _Text
    queue: _Text | None = None
    target_system: _Text | None = None


class Front(BaseModel):
    """The question that others wait behind, as it was shown.

    Attributes:
        waiting: the mutations that were shown behind it, and none that has come since is meant; `None`: all that wait.
    """

    model_config = _FROZEN

    review_id: _Id
    version: int = Field(ge=1, lt=2**31)
    shown_digest: _Text | None = None
    waiting: list[_Id] | None = Field(default=None, max_length=MOST)


class ManyDecisions(BaseModel):
    """The body of `POST /v1/reviews/decisions`: exactly one of `all_of`, `behind` and `decisions`.

    Attributes:
        decision_id: the same request under the same id decides nothing twice.
        decision: `retry` with `all_of`; `accept` or `abandon` with `behind`.
        reason: why, for those who read it later; of each decision that this request makes.
        decisions: each as for one question, with its `review_id`.
    """

    model_config = _FROZEN

    decision_id: _Text | None = None
    decision: Annotated[Decision, Field(strict=False)] | None = None
    reason: _Why = ""
    all_of: AllOf | None = None
    behind: Front | None = None
    decisions: list[dict[str, Any]] | None = Field(default=None, min_length=1, max_length=MOST)

    def base(self, reviewer: str) -> str | None:
        """How the ids of its decisions begin, each followed by a dot and the question's; `None`: they have none in
        common."""
        if self.decision_id is None:
            return None
        return keys.digest(
            ["decisions/1", reviewer, self.decision_id, self.model_dump(mode="json", exclude={"decision_id"})]
        )


def read_many(body: bytes) -> ManyDecisions:
    """Read a request.

    Raises:
        Problem: 422, saying what is wrong without repeating what was sent.
    """
    try:
        sent = strict_json.read(body)
        strict_json.check(sent)
        return checked(ManyDecisions.model_validate(sent))
    except MalformedDelivery as error:
        raise problems.malformed(str(error)) from None
    except ValidationError as error:
        places = {".".join(str(part) for part in item["loc"][:2])[:100] for item in error.errors(include_input=False)}
        raise problems.malformed(f"these are missing or wrong: {', '.join(sorted(places - {''})) or 'body'}") from None


def checked(asked: ManyDecisions) -> ManyDecisions:
    """A request that can be meant.

    Raises:
        Problem: 422.
    """
    kinds = [asked.all_of, asked.behind, asked.decisions]
    if sum(kind is not None for kind in kinds) != 1:
        raise problems.malformed("say exactly one of all_of, behind and decisions")
    if asked.decisions is not None and asked.decision is not None:
        raise problems.malformed("decision: each of the decisions names its own")
    if asked.all_of is not None and asked.decision is not Decision.RETRY:
        raise problems.malformed("decision: for all of a reason it is retry, nothing else is meant for many at once")
    if asked.behind is not None and asked.decision not in _ALSO_BEHIND:
        raise problems.malformed("decision: also for what waits behind it is accept or abandon")
    if asked.all_of is not None and asked.all_of.reason not in _REASONS:
        raise problems.malformed("all_of.reason: no question is asked for such a reason")
    return asked
