"""The Messages API as a provider of the sandbox."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from sandbox.anthropic.errors import ApiError, envelope, invalid
from sandbox.anthropic.identifiers import request_id
from sandbox.anthropic.models import known_model
from sandbox.anthropic.question import user_text
from sandbox.anthropic.replies import Replies
from sandbox.anthropic.requests import checked
from sandbox.anthropic.scripts import Scripts
from sandbox.faults import ANSWER_KINDS, Fault
from sandbox.provider import Influence, Named, Recordless, Route
from sandbox.wire import Answer, Call

OPERATIONS = ("messages.create", "models.retrieve")


class MessagesApi(Recordless):
    """Anthropic's API, as far as a planner needs it."""

    name = "anthropic"
    operations: tuple[str, ...] = OPERATIONS
    fault_kinds: tuple[str, ...] = tuple(kind for kind in ANSWER_KINDS if kind != "lock")

    def __init__(self, scripts: Scripts) -> None:
        self._scripts = scripts
        self.reset()

    def reset(self) -> None:
        self._scripts.clear()
        self._replies = Replies()

    def route(self, call: Call) -> Route:
        match call.method, *call.segments:
            case "POST", "v1", "messages":
                return _route("messages.create", self._create)
            case "GET", "v1", "models", _:
                return _route("models.retrieve", _model)
        return _route(None, _nowhere)

    def authenticate(self, call: Call) -> Answer | None:
        if call.token or call.headers.get("x-api-key"):
            return None
        return ApiError(401, "x-api-key header is required").answer()

    def named(self, call: Call) -> list[Named]:
        """Every value of the lead that a call is about, and the model that it asks."""
        body = call.body if isinstance(call.body, dict) else {}
        try:
            document = json.loads(user_text(body))
        except (ValueError, LookupError, TypeError, AttributeError):
            document = None
        return [Named(None, frozenset(_words([body.get("model"), document])))]

    def refusal(self, fault: Fault) -> Answer:
        args = fault.args
        if fault.kind == "rate_limit":
            answer = ApiError(429, retry_after=1).answer()
        elif fault.kind == "reject_auth":
            answer = ApiError(403 if args.get("status") == 403 else 401).answer()
        else:
            answer = ApiError(int(args["status"])).answer()
            answer.body = args.get("body", answer.body)
        if "retry_after" in args:
            answer.headers["retry-after"] = str(args["retry_after"])
        for name, value in dict(args.get("headers", {})).items():
            answer.headers[str(name)] = str(value)
        return answer

    def dress(self, answer: Answer, operation: str | None) -> Answer:
        """Add the header that every answer of the API has."""
        known = answer.body.get("request_id") if isinstance(answer.body, dict) else None
        answer.headers["request-id"] = known or request_id()
        return answer

    def _create(self, call: Call) -> Answer:
        body, model = checked(call.body)
        return self._replies.reply(self._scripts.next(), body, model)


def _model(call: Call) -> Answer:
    return Answer(200, known_model(call.segments[-1]).info)


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _words(item)
    elif isinstance(value, list):
        for item in value:
            yield from _words(item)
    elif value is not None:
        yield str(value)
        yield str(value).lower()


def _route(operation: str | None, handler: Callable[[Call], Answer]) -> Route:
    def handle(call: Call, _: Influence) -> Answer:
        try:
            if not call.headers.get("anthropic-version"):
                raise invalid("anthropic-version: header is required")
            return handler(call)
        except ApiError as error:
            return error.answer()

    return Route(operation, handle)


def _nowhere(call: Call) -> Answer:
    return Answer(404, envelope(404, "Not found"))
