"""Payloads as pydantic reads them, but a stranger's payload is never lost, and no error repeats what is in one."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from temporalio.api.common.v1 import Payload
from temporalio.contrib.pydantic import PydanticPayloadConverter, pydantic_data_converter

UNREADABLE = "unreadable:"
"""What stands, with the payload's SHA-256 behind it, where a payload without a declared type cannot be used."""

LARGEST = 256 * 1024
"""Bytes that are taken without a declared type, of all payloads together: the longest decision has some ten thousand,
and what is handed to a step may have 2 MiB, in a spelling of ours that can be four times as long."""


class UnreadablePayload(Exception):
    """A payload is not of the type that is declared; its content, which may be personal, is in no text."""


class LeadsPayloadConverter(PydanticPayloadConverter):
    """The SDK drops a signal whose payload cannot be decoded, and writes the payload into its log. A decision that
    somebody sent must neither vanish nor be printed: it reaches the handler as something that is no decision."""

    def from_payloads(self, payloads: Sequence[Payload], type_hints: list[type] | None = None) -> list[Any]:
        if not type_hints:
            if sum(payload.ByteSize() for payload in payloads) > LARGEST:
                return [_unreadable(*payloads)]
            return [self._read(payload) for payload in payloads]
        try:
            return super().from_payloads(payloads, type_hints)
        except Exception:  # whatever it was, its text may hold the payload
            names = ", ".join(getattr(hint, "__name__", str(hint)) for hint in type_hints)
        raise UnreadablePayload(f"a payload cannot be read as {names}")

    def _read(self, payload: Payload) -> Any:
        """A value that can be handed on to a step: one that could not would stop the run for good."""
        try:
            value = super().from_payloads([payload])[0]
            self.to_payloads([[value]])  # within a list, as JSON: by itself it goes as it came
        except Exception:  # a stranger may send whatever a decoder or an encoder can fail on
            return _unreadable(payload)
        return value


def _unreadable(*payloads: Payload) -> str:
    return UNREADABLE + hashlib.sha256(b"".join(payload.data for payload in payloads)).hexdigest()


leads_data_converter = replace(pydantic_data_converter, payload_converter_class=LeadsPayloadConverter)
