"""Column types that mean the same on SQLite and on PostgreSQL."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, DateTime, Dialect, String
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeDecorator

_NOT_STORED = {0x00: "\ufffd", **dict.fromkeys(range(0xD800, 0xE000), "\ufffd")}


def storable(value: Any) -> Any:
    """`value` with what PostgreSQL refuses in texts and JSON put into words that it takes.

    A NUL and a lone surrogate become U+FFFD, a number that is none becomes a text; so that evidence from outside never
    makes storing it fail (https://www.postgresql.org/docs/current/datatype-json.html).
    """
    if isinstance(value, str):
        return value if value.isascii() and "\x00" not in value else value.translate(_NOT_STORED)
    if isinstance(value, dict):
        return {storable(name): storable(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [storable(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


class UtcTime(TypeDecorator[datetime]):
    """A moment; stored in UTC and read as an aware time on both databases."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without a zone is no moment")
        moment = value.astimezone(UTC)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Json(TypeDecorator[Any]):
    """JSON on SQLite, JSONB on PostgreSQL; `None` is SQL's NULL."""

    impl = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        return storable(value)


class Words(TypeDecorator[str]):
    """A text that came from outside."""

    impl = String()
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else str(storable(str(value)))
