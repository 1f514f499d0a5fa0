"""The processes: one each for a deployment, or all of them embedded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from leadproof.domain.errors import ConfigurationRefused

if TYPE_CHECKING:
    from console.embedded import Ports
    from console.stack import Stack

DataDirOption = Annotated[Path, typer.Option("--data-dir", help="where ledger, Temporal's database and logs are kept")]
TemporalPort = Annotated[int, typer.Option(min=0, max=65535, help="Temporal's port, its UI 1000 above; 0: any free")]
StarterPort = Annotated[int, typer.Option(min=0, max=65535, help="the starter's port; 0: any free")]
SandboxPort = Annotated[int, typer.Option(min=0, max=65535, help="the sandbox's port; 0: any free")]

DATA_DIR = Path(".leadproof")
TEMPORAL_PORT, STARTER_PORT, SANDBOX_PORT = 7233, 8080, 8090


def ports_of(temporal: int, starter: int, sandbox: int | None) -> Ports:
    """Ports as wanted, with the UI's beside Temporal's."""
    from console.embedded import Ports

    return Ports(
        temporal=temporal,
        ui=temporal + 1000 if 0 < temporal <= 64535 else 0,
        starter=starter,
        sandbox=sandbox,
    )


def up(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="one line when everything answers, with secrets")] = False,
    data_dir: DataDirOption = DATA_DIR,
    temporal_port: TemporalPort = TEMPORAL_PORT,
    starter_port: StarterPort = STARTER_PORT,
    sandbox_port: SandboxPort = SANDBOX_PORT,
    no_sandbox: Annotated[bool, typer.Option("--no-sandbox", help="use the CRMs that the settings name")] = False,
    planner: Annotated[Literal["rules", "claude"] | None, typer.Option(help="who plans; default: rules")] = None,
) -> None:
    """Run everything embedded, until Ctrl-C or SIGTERM."""
    from console.leaving import CommandRefused
    from console.stack import Stack, StoppedEarly
    from console.tables import say, say_json
    from leadproof.settings import load

    settings = load()
    if planner is not None and "policy" in settings.model_fields_set:
        raise ConfigurationRefused("LEADPROOF_POLICY names a policy, and who plans stands there; leave --planner out")
    ports = ports_of(temporal_port, starter_port, None if no_sandbox else sandbox_port)
    stack = Stack(settings, data_dir, ports, planning=planner or "rules")
    try:
        with stack.running():
            if as_json:
                say_json(stack.as_json())
            else:
                for line in addresses_of(stack):
                    say(line)
                say("Ctrl-C stops everything; `up` on the same data directory goes on where it was.")
            stack.wait()
    except StoppedEarly:
        raise CommandRefused("stopped before everything answered") from None


def addresses_of(stack: Stack) -> list[str]:
    """Where everything answers, for people."""
    addresses = stack.addresses
    return [
        f"Temporal UI  {addresses.ui}  (frontend {addresses.temporal}, namespace {addresses.namespace})",
        f"API          {addresses.starter}",
        f"Review page  {stack.review_link()}  (signs in once, within ten minutes; another one: leadproof review open)",
        *([f"Sandbox      {addresses.sandbox}"] if addresses.sandbox else []),
        *planning_of(stack),
        f"Ledger       {addresses.ledger}",
        f"For commands in another terminal: set -a; . {stack.variables_file}; set +a",
    ]


def planning_of(stack: Stack) -> list[str]:
    """Who plans, by the policy that the stack runs, and whether anything is written at all."""
    from leadproof.domain.environment import is_shadow
    from leadproof.domain.policy_text import parse_policy
    from leadproof.settings import variable

    policy = parse_policy(Path(stack.variables[variable("policy")]).read_text(encoding="utf-8"))
    stand_in = "a stand-in: it takes the first value of each list and does not understand the message"
    says = {"claude": f"claude ({stand_in})" if stack.addresses.sandbox else "claude"}
    others = [
        f"{says.get(event.planner, event.planner)} for {event.source} {event.kind}"
        for event in policy.events
        if event.planner is not None and event.planner != policy.planner
    ]
    lines = [f"Planner      {', '.join([says.get(policy.planner, policy.planner), *others])}"]
    if is_shadow(stack.variables[variable("environment")]):
        lines.append("Shadow       nothing is written; `leadproof shadow report` says what would have been")
    return lines


def worker() -> None:
    """Run one worker, until SIGTERM."""
    import asyncio

    from leadproof.settings import load
    from workers import lifecycle

    asyncio.run(lifecycle.run(load()))


def starter() -> None:
    """Run the starter, until SIGTERM."""
    from leadproof.settings import load
    from starter import serve

    serve.run(load())


def sandbox(
    host: Annotated[str, typer.Option(help="the address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="the port; 0: any free")] = SANDBOX_PORT,
) -> None:
    """Run the local CRMs, until SIGTERM."""
    from sandbox import server

    server.serve(host, port)
