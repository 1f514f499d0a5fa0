"""What only Salesforce can tell an examination: of our user, of what it is told, and of the calls of the org."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, TypeVar

from leadproof.crm.salesforce_budget import SHARE
from leadproof.crm.salesforce_client import SalesforceClient, format_soql
from leadproof.crm.salesforce_definitions import Definitions
from leadproof.crm.salesforce_describing import tracked, visible
from leadproof.crm.salesforce_fields import OBJECTS
from leadproof.crm.salesforce_question import ask
from leadproof.deadline import Deadline, Response
from leadproof.domain.diagnosis import Remark
from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.plan import TargetObject

T = TypeVar("T")


class Remarks:
    """Questions whose answers are only remarks: what Salesforce does not tell our user is left out.

    Args:
        objects: those of ours that leads come from or go to.
        call_timeout: total deadline in seconds of each call.
    """

    def __init__(
        self,
        client: SalesforceClient,
        definitions: Definitions,
        objects: Iterable[TargetObject],
        call_timeout: float,
    ) -> None:
        self._client = client
        self._definitions = definitions
        self._names = [OBJECTS[each] for each in objects]
        self._call_timeout = call_timeout

    def all(self) -> Iterator[Remark]:
        yield from self._of_the_user()
        yield from self._of_what_it_sees()
        yield from self._of_the_history()
        yield from self._of_the_calls()

    def _of_the_user(self) -> Iterator[Remark]:
        user_id = self._client.user_id
        if user_id is None:
            return
        says = f"our writes are those of the user {user_id}"
        soql = format_soql(
            "SELECT PermissionSet.PermissionsApiUserOnly FROM PermissionSetAssignment WHERE AssigneeId = {}", user_id
        )
        try:
            told = self._rows(soql, lambda row: bool(row["PermissionSet"]["PermissionsApiUserOnly"]))
        except ConfigurationRefused:
            told = []
        if not told:  # a profile is a permission set too, so whoever sees none is not shown them
            yield Remark(check="user", says=says)
        elif any(told):
            yield Remark(check="user", says=f"{says}, as whom nobody can work in Salesforce by hand")
        else:
            yield Remark(
                check="user",
                says=f"{says}, as whom a person can sign in too, and what a person does so is taken for ours",
                do="give this user to nobody else, and the permission API Only User to it",
            )

    def _of_what_it_sees(self) -> Iterator[Remark]:
        """A record that is not shared with our user looks as if it were not there."""
        user_id, names = self._client.user_id, self._names
        soql = format_soql(
            "SELECT SobjectType, PermissionsViewAllRecords FROM ObjectPermissions WHERE SobjectType IN {names} "
            "AND ParentId IN (SELECT PermissionSetId FROM PermissionSetAssignment WHERE AssigneeId = {user})",
            names=names,
            user=user_id or "",
        )
        try:
            told = self._rows(soql, lambda row: (str(row["SobjectType"]), bool(row["PermissionsViewAllRecords"])))
        except ConfigurationRefused:
            return
        unseen = [name for name in names if (name, False) in told and (name, True) not in told]
        if unseen:
            which = " and ".join(unseen)
            yield Remark(
                check="sees",
                says=f"our user lacks View All on {which}, so that a record that is not shared with it looks absent",
                do=f"give it View All on {which}, unless your org shares every one of them with everybody",
            )

    def _of_the_history(self) -> Iterator[Remark]:
        try:
            names = [name for name in self._names if visible(self._definitions, name, self._deadline()) is not None]
            untold = [name for name in names if tracked(self._definitions, name, self._deadline()) is None]
        except ConfigurationRefused:  # Salesforce is out of reach, which every other check says
            return
        if untold:
            yield Remark(
                check="history",
                says=f"Salesforce does not tell our user which fields of {' and '.join(untold)} keep their history, "
                "so that none is taken to keep it",
                do="let our user read FieldDefinition (the permission View Setup and Configuration)",
            )

    def _of_the_calls(self) -> Iterator[Remark]:
        budget = self._client.budget()
        if budget.used is None or budget.limit is None:
            return
        says = f"{budget.used} of the org's {budget.limit} calls a day are used"
        if budget.used < SHARE * budget.limit:
            yield Remark(check="calls", says=says)
        else:
            yield Remark(
                check="calls",
                says=f"{says}, and above {SHARE:.0%} ours are sent ever more slowly",
                do="look in Setup, System Overview, who uses them, or have more of them",
            )

    def _rows(self, soql: str, read: Callable[[Any], T]) -> list[T]:
        def rows(body: Any, _: Response) -> list[T]:
            return [read(row) for row in body["records"]]

        return ask(self._client, partial(self._client.about_the_org, soql), self._deadline(), rows)

    def _deadline(self) -> Deadline:
        return Deadline(self._call_timeout)
