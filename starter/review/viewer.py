"""Who looks at the review page, and what they may."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from fastapi import APIRouter, Request

from starter.problems import Problem


class Role(StrEnum):
    """What a person may on the page: a viewer sees, a reviewer decides in their queues, an admin in all."""

    VIEWER = "viewer"
    REVIEWER = "reviewer"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Viewer:
    """One person, as the page was told for this request.

    Attributes:
        name: what the ledger records as the reviewer of a decision: `person:<name>` or `api:<token name>`.
        queues: the queues that are theirs; `None` for all.
        csrf: goes into each form as its hidden field `csrf`.
    """

    name: str
    role: Role
    queues: frozenset[str] | None
    csrf: str

    def sees(self, queue: str) -> bool:
        """Whether questions of this queue are shown."""
        return self.queues is None or queue in self.queues

    def decides(self, queue: str) -> bool:
        """Whether questions of this queue can be answered."""
        return self.role is not Role.VIEWER and self.sees(queue)

    @property
    def has_session(self) -> bool:
        """Whether a session of ours keeps them signed in; who comes through a proxy signs out there."""
        return self.name.startswith("api:")


class NotSignedIn(Problem):
    """Nobody is signed in: the page shows this sentence and nothing of the queue."""

    def __init__(self, detail: str) -> None:
        super().__init__(401, "not-signed-in", "Nobody is signed in", detail, headers={"WWW-Authenticate": "Cookie"})


class SignIn(Protocol):
    """What every route of the page asks first."""

    def viewer(self, request: Request) -> Viewer:
        """Who looks.

        Raises:
            NotSignedIn: nobody that is known.
            Problem: 403, a name that may not look, or a proxy's header from where no proxy of ours is.
        """
        ...

    async def form(self, request: Request, viewer: Viewer) -> Mapping[str, str]:
        """The fields of a form that this person was shown, one value each, without `csrf`.

        Raises:
            Problem: 403 where another page or another sign-in sent it, 413, 415, or 422 where it cannot be read.
        """
        ...

    def router(self) -> APIRouter:
        """`GET` and `POST /review/sign-in`, `POST /review/sign-out`."""
        ...
