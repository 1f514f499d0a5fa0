"""`/review/why`: what produced each value of a record, as a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from leadproof.domain.errors import MalformedDelivery, NotFound
from leadproof.domain.wording import plain, value_in_words
from leadproof.ports import Ledger
from starter import problems
from starter.off_loop import off_loop
from starter.review.rendering import Pages
from starter.review.security import PATH
from starter.review.viewer import SignIn, Viewer
from starter.why import Why

_MOST_TEXT: Final = 200
_ASKED: Final = ("record", "field", "target_system")


class WhyPages:
    """The route of the page.

    Args:
        why: explains records.
        ledger: says in which queues a record was put to a person.
    """

    def __init__(self, *, why: Why, ledger: Ledger, sign_in: SignIn, pages: Pages) -> None:
        self._why = why
        self._ledger = ledger
        self._sign_in = sign_in
        self._pages = pages

    def router(self) -> APIRouter:
        """The route, for the application; to be added before those of the review's other pages."""
        router = APIRouter(prefix=PATH, include_in_schema=False)
        router.add_api_route("/why", self.page, methods=["GET"], response_model=None)
        return router

    async def page(self, request: Request) -> Response:
        """A record's values with their origins, or the form that asks which."""
        viewer = self._sign_in.viewer(request)
        asked = _asked(request)
        told, fault, status = None, None, 200
        if asked["record"]:
            try:
                told = await off_loop(lambda: self._explained(viewer, asked))
            except NotFound as error:
                fault, status = str(error), 404
            except MalformedDelivery as error:
                fault, status = str(error), 422
        return self._pages.page(
            "why.html", viewer=viewer, status=status, asked=asked, fault=fault, **_shown(told, viewer)
        )

    def _explained(self, viewer: Viewer, asked: Mapping[str, str]) -> dict[str, Any]:
        record, system = asked["record"], asked["target_system"] or None
        # looked at first: of another record not even is said whether there is one, and its CRM is not asked
        if viewer.queues is not None and not self._asked_in_a_queue_of(viewer, record, system):
            raise NotFound("no question about such a record was ever in a queue of yours")
        return self._why.explained(record, field=asked["field"] or None, target_system=system)

    def _asked_in_a_queue_of(self, viewer: Viewer, record_id: str, system: str | None) -> bool:
        """Whoever has some queues sees the records that those asked about, and no other."""
        effects = self._ledger.effects_on(record_id, target_system=system)
        kept = (self._ledger.receipts(effect.mutation_key) for effect in effects)
        return any(one.review is not None and viewer.sees(one.review.queue) for one in kept if one is not None)


def _asked(request: Request) -> dict[str, str]:
    asked = {name: request.query_params.get(name, "").strip() for name in _ASKED}
    for name, text in asked.items():
        if len(text) > _MOST_TEXT or not text.isprintable():
            raise problems.malformed(f"{plain(name)} is none that a record could have")
    return asked


def _shown(told: Mapping[str, Any] | None, viewer: Viewer) -> dict[str, Any]:
    if told is None:
        return {"about": None, "note": None, "fields": [], "never": [], "effects": []}
    record = told["record"]
    never = [one["field"] for one in told["fields"] if one["never_set"] and len(told["fields"]) > 1]
    return {
        "about": " ".join((record["target_system"], record["target_object"], record["provider_record_id"])),
        "note": record["note"],
        "fields": [
            {**_origin(one), "field": plain(one["field"]), "earlier": _earlier(one)}
            for one in told["fields"]
            if one["field"] not in never
        ],
        "never": [plain(name) for name in never],
        "effects": [_effect(one) for one in told["effects"].values()],
    }


def _earlier(told: Mapping[str, Any]) -> list[dict[str, str]]:
    return [_origin({**one, "field": told["field"]}) for one in told["earlier"]]


def _origin(told: Mapping[str, Any]) -> dict[str, str]:
    owners = {told["value"]: told["value_name"]} if told["value_name"] is not None else {}
    return {"value": value_in_words(told["field"], told["value"], owners), "said": told["said"]}


def _effect(effect: Mapping[str, Any]) -> dict[str, Any]:
    made_by = effect["made_by"]
    decided = [f"made by {plain(made_by['decision'])}, which {made_by['reviewer']} decided"] if made_by else []
    return {
        **effect,
        "name": f"{plain(effect['action_kind'])} {effect['mutation_key'][:12]}",
        "decided": [
            *decided,
            *(f"decided about it: {plain(one['decision'])}, by {one['reviewer']}" for one in effect["decisions"]),
        ],
        "reasons": [one["reason"] for one in filter(None, (made_by, *effect["decisions"])) if one["reason"]],
    }
