"""What an org's administrators decide, as the control plane may change it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

DUPLICATE_RULES = ("off", "alert", "block")


@dataclass(slots=True)
class Settings:
    """Args:
    assignment_rule: whether leads go to `default_owner` when a save asks for assignment, as one does by default.
    duplicate_rule: `alert` lets a save through that says so, `block` none.
    edit_converted_leads: whether a converted lead can be written.
    welcome_email: whether the flow is on that writes to each new lead and contact.
    daily_limit: how many calls a day the org has; `daily_used` of them are used.
    refuse_sessions: whether every session is refused, however new (a policy for sessions of high assurance).
    client_id, client_secret: the only application that may sign in; any may where they are empty.
    """

    assignment_rule: bool
    default_owner: str
    duplicate_rule: str
    edit_converted_leads: bool
    welcome_email: bool
    daily_limit: int
    daily_used: int = 0
    refuse_sessions: bool = False
    client_id: str = ""
    client_secret: str = ""

    def change(self, asked: Mapping[str, Any]) -> None:
        """Take what is asked.

        Raises:
            TypeError, ValueError: saying what is wrong; then nothing is taken.
        """
        for name, value in asked.items():
            if name not in self.__slots__:
                raise ValueError(f"unknown: {name}")
            wanted = type(getattr(self, name))
            if type(value) is not wanted:
                raise TypeError(f"{name} is a {wanted.__name__}")
        if asked.get("duplicate_rule", "off") not in DUPLICATE_RULES:
            raise ValueError(f"duplicate_rule is one of {', '.join(DUPLICATE_RULES)}")
        for name, value in asked.items():
            setattr(self, name, value)

    def shown(self) -> dict[str, Any]:
        known = asdict(self)
        del known["client_secret"]
        return known


def from_seed(seed: Mapping[str, Any]) -> Settings:
    return Settings(
        default_owner=seed["assignment"]["default_owner"],
        daily_limit=seed["api"]["daily_limit"],
        **seed["settings"],
    )
