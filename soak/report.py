"""What a soak says of itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from soak.schedule import Schedule, described
from soak.soaking import Soaked


def of_schedule(schedule: Schedule) -> str:
    """How much is scheduled, in one line."""
    return ", ".join(f"{number} {what}" for what, number in described(schedule).items())


def lines(soaked: Soaked) -> Iterator[str]:
    """The summary, and then what is wrong, one line each, with the seed."""
    evidence, schedule = soaked.evidence, soaked.evidence.schedule
    ledger, seen, told = evidence.ledger, evidence.witness, evidence.told
    armed: Counter[str] = Counter()
    for fault in (fault for lead in schedule.leads for fault in lead.faults):
        armed[fault.kind] += fault.times
    met = Counter({kind: number - seen.armed.get(kind, 0) for kind, number in armed.items()})
    yield f"leads        {len(schedule.leads)} in {len(ledger.leads)} events, {told.put_off} deliveries put off"
    yield f"faults met   {met.total()} of {armed.total()}: {_counted(met) or 'none'}"
    edits = sum(len(lead.edits) for lead in schedule.leads)
    yield f"edits        {edits}, and {told.refused} that the CRM did not let a person make"
    yield f"kills        {_counted(told.kills) or 'none'}"
    yield f"outcomes     {_counted(Counter(lead['outcome'] for lead in ledger.leads))}"
    yield f"mutations    {_counted(Counter(_stands(mutation) for mutation in ledger.mutations))}"
    yield f"attempts     {sum(len(rows) for rows in ledger.attempts.values())}, of {len(seen.writes)} requests received"
    yield f"decisions    {_counted(Counter(sent.decision for sent in evidence.decisions.values())) or 'none'}"
    yield f"left open    {sum(1 for item in ledger.items if item['state'] == 'open')}"
    yield f"seconds      {soaked.seconds:.0f}"
    for wrong in soaked.wrongs:
        yield f"WRONG        seed {schedule.seed}, {wrong}"
    again = f"once more: python -m soak --seed {schedule.seed} --leads {len(schedule.leads)}"
    yield f"{len(soaked.wrongs)} wrong; {again}" if soaked.wrongs else "nothing is wrong"


def _stands(mutation: Mapping[str, str | None]) -> str:
    return f"{mutation['status']} ({mutation['reason']})" if mutation["reason"] else str(mutation["status"])


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{number} {what}" for what, number in counts.most_common())
