"""The command `leadproof`."""

from __future__ import annotations

from typing import Any

import typer

from console import (
    catch_up,
    configuration,
    demo,
    doctor,
    leads,
    ledger,
    mutations,
    policy,
    processes,
    quarantine,
    replay,
    reviews,
    sending,
    shadow,
    why,
)
from console.leaving import leaving


class _Console(typer.Typer):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with leaving():
            return super().__call__(*args, **kwargs)


app = _Console(
    name="leadproof",
    help="Durable, idempotent CRM writes: one key, one effect, read back before it counts.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

app.command("demo")(demo.demo)
app.command("up")(processes.up)
app.command("worker")(processes.worker)
app.command("starter")(processes.starter)
app.command("sandbox")(processes.sandbox)
app.command("send")(sending.send)
app.command("replay")(replay.replay)
app.command("doctor")(doctor.doctor)
app.command("config")(configuration.config)
app.command("why")(why.why)
app.add_typer(leads.app, name="lead")
app.add_typer(mutations.app, name="mutation")
app.add_typer(policy.app, name="policy")
app.add_typer(reviews.app, name="review")
app.add_typer(quarantine.app, name="quarantine")
app.add_typer(catch_up.app, name="catch-up")
app.add_typer(shadow.app, name="shadow")
app.add_typer(ledger.app, name="ledger")
