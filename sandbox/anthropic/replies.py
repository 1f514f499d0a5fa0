"""Each script played out."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.anthropic.errors import ApiError
from sandbox.anthropic.messages import message, refusal
from sandbox.anthropic.models import Model, unknown_model
from sandbox.anthropic.paraphrases import paraphrased
from sandbox.anthropic.plans import plan
from sandbox.anthropic.question import Question, schema_of
from sandbox.anthropic.schemas import smallest
from sandbox.anthropic.scripts import Script
from sandbox.anthropic.victim import obeyed
from sandbox.wire import Answer

GREETING = "Hello! How can I help you today?"
LOW_CREDIT = (
    "Your credit balance is too low to access the Anthropic API. "
    "Please go to Plans & Billing to upgrade or purchase credits."
)
ERRORS = ("overload", "unauthorized", "unpaid", "retired")


@dataclass(slots=True)
class Replies:
    """Answers messages; remembers how often it has paraphrased."""

    tellings: int = 0

    def reply(self, script: Script, body: Mapping[str, Any], model: Model) -> Answer:
        """The answer that the script has for this request.

        Raises:
            ApiError: the script is that of an error.
        """
        args = script.args
        if script.script in ERRORS:
            raise _error(script, body)
        if script.script == "refusal":
            return refusal(body, model, args.get("category", "general_harms"))
        if script.script == "truncation":
            return message(body, model, _half(self._text(script, body)), stop_reason="max_tokens")
        if script.script == "context":
            text = _half(self._text(script, body))
            return message(body, model, text, stop_reason="model_context_window_exceeded")
        if script.script == "invalid_json":
            return message(body, model, _wrong(args.get("kind", "prose"), self._text(script, body)))
        answer = message(body, model, self._text(script, body))
        if script.script == "hang":
            answer.hold = args.get("seconds", math.inf)
        return answer

    def _text(self, script: Script, body: Mapping[str, Any]) -> str:
        question = Question.of(body)
        if question is not None:
            return _written(self._plan(script, question))
        schema = schema_of(body)
        return GREETING if schema is None else _written(smallest(schema))

    def _plan(self, script: Script, question: Question) -> dict[str, Any]:
        sensible = plan(question, script.args)
        if script.script == "paraphrase":
            self.tellings += 1
            return paraphrased(sensible, self.tellings)
        if script.script == "victim":
            return obeyed(sensible, str(question.lead.get("message") or ""))
        return sensible


def _error(script: Script, body: Mapping[str, Any]) -> ApiError:
    if script.script == "overload":
        return ApiError(529, retry_after=script.args.get("seconds"))
    if script.script == "unauthorized":
        return ApiError(401, "Invalid bearer token")
    if script.script == "unpaid":
        status = script.args.get("status", 402)
        return ApiError(status, LOW_CREDIT if status == 400 else None)
    return unknown_model(body["model"])


def _wrong(kind: str, text: str) -> str | None:
    """The text as a model without a schema might give it."""
    if kind == "prose":
        return "I would give this lead to a colleague, but I am not certain."
    if kind == "fenced":
        return f"```json\n{text}\n```"
    if kind == "cut":
        return _half(text)
    if kind == "list":
        return f"[{text}]"
    if kind == "empty":
        return None
    return _written(_misshapen(kind, json.loads(text)))


def _misshapen(kind: str, document: dict[str, Any]) -> dict[str, Any]:
    if kind == "missing":
        document.pop("actions", None)
    elif kind == "extra":
        document["note"] = "not asked for"
    elif kind == "type":
        document["confidence"] = "high"
    else:
        for action in document.get("actions", ()):
            action["sets"] += action["sets"][:1]
    return document


def _written(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def _half(text: str) -> str:
    return text[: len(text) // 2]
