"""docker-compose.yml, held against the project that it starts; what of it can run without a container engine is run in
test_compose_rehearsal.py."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import typer.main
from typer.core import TyperGroup

from console import embedded
from console.cli import app
from leadproof.settings import Settings, check_mode, load, variable
from starter import serve
from tests.conftest import TEMPORAL
from tests.support.composed import FILLED_IN, PASSWORDS, ROOT, Composed, Service, Unset, dotenv

PROFILES = ("live", "demo")
STARTERS = {"live": "starter", "demo": "demo-starter"}
WORKERS = {"live": "worker", "demo": "demo-worker"}
KEYS = ("./deploy/keys", "/etc/leadproof/keys", "ro")
SHARED = "/usr/local/share/leadproof/"
SCRIPTS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "deploy").rglob("*.sh"))


@pytest.fixture(scope="module")
def composed() -> Composed:
    return Composed.read(dotenv())


def settings_of(service: Service) -> Settings:
    return load(service.environment, dotenv=None)


def seconds(text: str) -> int:
    return int(text.removesuffix("s"))


# ---- what it is built from -------------------------------------------------------------------------------------------
def test_every_image_has_a_tag_that_names_a_version(composed: Composed) -> None:
    for service in composed.services.values():
        assert re.fullmatch(r"[a-z/-]+:\d+\.\d+[\w.-]*", service.said["image"]), service.said["image"]


def test_temporal_is_the_one_that_is_tested_here(composed: Composed) -> None:
    said = subprocess.run([str(TEMPORAL), "--version"], capture_output=True, text=True, check=True).stdout
    server, ui = re.findall(r"(?:Server|UI) ([\d.]+)", said)
    tags = {service.said["image"] for service in composed.services.values() if "temporalio/" in service.said["image"]}
    assert tags == {f"temporalio/server:{server}", f"temporalio/admin-tools:{server}", f"temporalio/ui:{ui}"}


def test_our_image_is_built_here_and_never_fetched(composed: Composed) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    for service in composed.services.values():
        if service.said["image"].startswith("leadproof:"):
            assert (service.said["image"], service.said["build"]) == (f"leadproof:{version}", ".")
            assert service.said["pull_policy"] == "build"


# ---- what it asks of .env --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", [*PASSWORDS, "LEADPROOF_API_TOKENS", "LEADPROOF_DECISION_KEY"])
def test_a_secret_that_is_missing_is_asked_for_in_a_sentence(name: str) -> None:
    with pytest.raises(Unset, match=rf"^set {name} in \.env"):
        Composed.read(dotenv(**{name: ""}))


def test_no_secret_stands_in_the_file() -> None:
    said = Composed.read(
        {name: "" if name.startswith(("LEADPROOF_HUBSPOT", "LEADPROOF_SALESFORCE")) else "GIVEN" for name in dotenv()}
    )
    for service in said.services.values():
        for name, value in service.said.get("environment", {}).items():
            if re.search("PASSWORD|PWD|SECRET|TOKEN|KEY|LEDGER_URL", name):
                assert "GIVEN" in value or value in {"", embedded.SANDBOX_TOKEN}, (service.name, name)


def test_each_password_is_known_where_it_is_needed_and_nowhere_else(composed: Composed) -> None:
    knows = {
        name: {word for word in FILLED_IN.values() if word in str(service.environment)}
        for name, service in composed.services.items()
    }
    superuser, temporal, ledger = PASSWORDS.values()
    others = {FILLED_IN[name] for name in FILLED_IN if name not in PASSWORDS}
    secret = FILLED_IN["DEMO_WEBHOOK_SECRET"]
    key, token = FILLED_IN["LEADPROOF_DECISION_KEY"], FILLED_IN["LEADPROOF_HUBSPOT_TOKEN"]
    org = FILLED_IN["LEADPROOF_SALESFORCE_CLIENT_SECRET"]
    review = FILLED_IN["LEADPROOF_REVIEW_KEY"]
    assert others == {secret, key, review, token, org}
    assert {name: known for name, known in knows.items() if known} == {
        "postgres": {superuser},
        "temporal-database": {superuser, temporal},
        "temporal-schema": {temporal},
        "temporal": {temporal},
        "ledger-database": {superuser, ledger},
        "ledger": {ledger},
        "starter": {ledger, key, review, token, org},
        "worker": {ledger, key, review, token, org},
        "demo-ledger-database": {superuser, ledger},
        "demo-ledger": {ledger},
        "demo-starter": {ledger, key, review, secret},
        "demo-worker": {ledger, key, review, secret},
        "demo-webhooks": {secret},
    }


def test_a_new_env_has_everything_that_may_be_made_up(tmp_path: Path) -> None:
    (tmp_path / "deploy").mkdir()
    for name in (".env.example", "deploy/new-env.sh"):
        shutil.copy(ROOT / name, tmp_path / name)
    made = subprocess.run(["sh", "deploy/new-env.sh"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert made.stdout + made.stderr == ""
    env = tmp_path / ".env"
    assert env.stat().st_mode & 0o077 == 0
    settings = load({}, dotenv=env)
    assert settings.decision_key is not None
    assert settings.hubspot_token is None
    given = dict(re.findall(r"^([A-Z_]+)=(.*)$", env.read_text(), re.MULTILINE))
    keys = ("LEADPROOF_DECISION_KEY", "LEADPROOF_REVIEW_KEY")
    made_up = ("DEMO_WEBHOOK_SECRET", *keys, "LEADPROOF_SALESFORCE_PATH_SECRETS")
    secrets = [given[name] for name in (*PASSWORDS, *made_up)]
    secrets += [token.token.get_secret_value() for token in settings.api_tokens]
    assert len(set(secrets)) == len(secrets)
    assert all(re.fullmatch(r"[0-9a-f]{48}", secret) for secret in secrets)
    assert Composed.read(given).of("demo")
    again = subprocess.run(["sh", "deploy/new-env.sh"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (again.returncode, again.stderr) == (1, "new-env.sh: there is a .env already; it is left as it is\n")


def test_nothing_is_written_before_the_two_lines_for_live_stand_in_the_env() -> None:
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    lines = re.findall(r"^#   (LEADPROOF_(?:ENVIRONMENT|MODE))=(.+)$", example, re.MULTILINE)
    assert len(lines) == 2
    for given, mode in ((dotenv(), "shadow"), (dotenv(**dict(lines)), "live")):
        settings = settings_of(Composed.read(given).services["worker"])
        check_mode(settings)
        assert settings.mode == mode


# ---- what it starts --------------------------------------------------------------------------------------------------
def test_every_command_is_one_of_ours_with_options_that_it_has(composed: Composed) -> None:
    ran = set()
    for service in composed.services.values():
        if service.ours and not service.entrypoint:
            command, rest = typer.main.get_command(app), service.command
            while isinstance(command, TyperGroup):
                command, rest = command.commands[rest[0]], rest[1:]
            command.make_context(service.name, list(rest))  # refuses an option or a value that the command has not
            ran.add(" ".join(service.command))
    assert ran == {"worker", "starter", "ledger upgrade", "sandbox --host 0.0.0.0 --port 8090"}


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_scripts_are_of_a_plain_shell(script: str) -> None:
    subprocess.run(["sh", "-n", ROOT / script], check=True)
    lines = (ROOT / script).read_text().splitlines()
    assert lines[0] == "#!/bin/sh"
    assert next(line for line in lines if line[:1] not in {"#", ""}).startswith("set -eu")


def test_what_an_entrypoint_or_a_probe_runs_is_there(composed: Composed) -> None:
    for service in composed.services.values():
        for word in (*service.entrypoint, *service.probe):
            if word.startswith(SHARED):
                assert service.ours
                assert (ROOT / "deploy/image" / word.removeprefix(SHARED)).is_file()
            elif word.startswith("/deploy/"):
                assert (f".{word}", word, "ro") in service.mounts


def test_what_is_mounted_is_there_and_only_the_database_is_written_to(composed: Composed) -> None:
    for service in composed.services.values():
        for source, target, mode in service.mounts:
            if service.name == "postgres":  # since 18 the image keeps its data one folder higher than before
                assert (source, target) == ("postgres", "/var/lib/postgresql")
                assert source in composed.said["volumes"]
            else:
                assert mode == "ro"
                assert (ROOT / source).is_dir() if source == KEYS[0] else (ROOT / source).is_file()


def test_a_private_key_is_seen_by_the_worker_alone_and_is_never_committed(composed: Composed) -> None:
    assert [name for name, service in composed.services.items() if KEYS in service.mounts] == ["worker"]
    ignored = (ROOT / KEYS[0] / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert [line for line in ignored if not line.startswith("#")] == ["*", "!.gitignore"]
    for page in (".env.example", "docs/salesforce.md"):
        assert f"{KEYS[1]}/leadproof.pem" in (ROOT / page).read_text(encoding="utf-8"), page


@pytest.mark.parametrize("profile", PROFILES)
def test_everything_comes_up_in_an_order_that_can_be(composed: Composed, profile: str) -> None:
    services = composed.of(profile)
    assert {service.name for ready in composed.in_order(profile) for service in ready} == set(services)
    for service in services.values():
        for name, condition in service.waits_for.items():
            if condition == "service_healthy":
                assert services[name].probe, f"{service.name} waits for the health of {name}, which has no check"
            else:
                assert (condition, services[name].one_shot) == ("service_completed_successfully", True)
        assert service.one_shot or service.said["restart"] == "unless-stopped"


def test_the_two_profiles_have_no_service_of_ours_in_common(composed: Composed) -> None:
    live, demo = ({name for name, service in composed.of(profile).items() if service.ours} for profile in PROFILES)
    assert live == {"ledger", "starter", "worker"}
    assert demo == {"demo-ledger", "sandbox", "demo-starter", "demo-webhooks", "demo-worker"}
    assert dotenv()["COMPOSE_PROFILES"] == "live"


# ---- what it lets in and out -----------------------------------------------------------------------------------------
def test_only_the_starter_can_be_published_to_more_than_this_machine() -> None:
    for address in ("127.0.0.1", "0.0.0.0"):  # noqa: S104 - what a person may choose
        services = Composed.read(dotenv(STARTER_PUBLISH=address)).services
        published = {name: service.published for name, service in services.items() if service.published}
        assert published == {
            "starter": [(address, 8080, 8080)],
            "demo-starter": [("127.0.0.1", 8080, 8080)],
            "temporal-ui": [("127.0.0.1", 8233, 8233)],
            "sandbox": [("127.0.0.1", 8090, 8090)],
        }


def test_who_needs_no_database_reaches_none(composed: Composed) -> None:
    assert composed.said["networks"]["data"] == {"internal": True}
    services = composed.services
    needs = {name for name, service in services.items() if "postgres" in str(service.said.get("environment"))}
    assert {name for name, service in services.items() if "data" in service.networks} == needs | {"postgres"}


def test_our_containers_have_no_more_rights_than_they_need(composed: Composed) -> None:
    for service in composed.services.values():
        assert service.said["security_opt"] == ["no-new-privileges:true"]
        assert "privileged" not in service.said
        if service.ours:
            assert (service.said["read_only"], service.said["cap_drop"]) == (True, ["ALL"])


# ---- whether it agrees with the settings -----------------------------------------------------------------------------
def test_every_variable_of_ours_is_a_setting(composed: Composed) -> None:
    known = {variable(field) for field in Settings.model_fields}
    for service in composed.services.values():
        assert {name for name in service.environment if name.startswith("LEADPROOF_")} <= known, service.name


@pytest.mark.parametrize("profile", PROFILES)
def test_the_settings_fit_each_other_and_the_containers(composed: Composed, profile: str) -> None:
    services = composed.of(profile)
    starter, worker = services[STARTERS[profile]], services[WORKERS[profile]]
    settings = settings_of(worker)
    assert settings == settings_of(starter)
    assert settings.temporal_address == "temporal:7233"
    assert settings.temporal_namespace == services[_of(profile, "namespace")].environment["TEMPORAL_NAMESPACE"]
    assert settings.ledger_url == settings_of(services[_of(profile, "ledger")]).ledger_url
    role, *databases = services[_of(profile, "ledger-database")].entrypoint[2:]
    assert re.fullmatch(rf"postgresql\+psycopg://{role}:[^@]+@postgres:5432/{databases[0]}", settings.ledger_url)
    assert (settings.starter_host, settings.starter_port) == ("0.0.0.0", 8080)  # noqa: S104 - inside its container
    assert [port for _, _, port in starter.published] == [settings.starter_port]
    assert starter.probe[-2:] == [str(settings.starter_port), "/readyz"]
    (policy,) = (source for source, target, _ in worker.mounts if target == str(settings.policy))
    assert policy == {"live": "./policy.toml", "demo": "./leadproof/embedded_policy.toml"}[profile]
    assert [mount for mount in worker.mounts if mount != KEYS] == starter.mounts
    assert seconds(worker.said["stop_grace_period"]) >= settings.shutdown_seconds + 5
    assert seconds(starter.said["stop_grace_period"]) > serve._STOP_SECONDS
    ui = services["temporal-ui"]
    assert f"http://{ui.published[0][0]}:{ui.published[0][1]}" == settings.temporal_ui_url
    assert ui.environment["TEMPORAL_UI_PORT"] == str(ui.published[0][2])


def _of(profile: str, name: str) -> str:
    return name if profile == "live" else f"demo-{name}"


def test_the_demonstration_shares_nothing_with_the_real_thing(composed: Composed) -> None:
    sandbox, starter = composed.services["sandbox"], composed.services["demo-starter"]
    live, demo = settings_of(composed.services["worker"]), settings_of(composed.services["demo-worker"])
    assert "env_file" not in starter.said
    host, port = sandbox.name, sandbox.command[-1]
    assert demo.hubspot_base_url == f"http://{host}:{port}/hubspot"
    assert (demo.hubspot_portal_id, demo.hubspot_app_id) == (embedded.PORTAL_ID, embedded.APP_ID)
    assert (demo.salesforce_url, demo.salesforce_org_id) == (f"http://{host}:{port}", embedded.ORGANIZATION_ID)
    assert demo.public_url == f"http://{starter.name}:{demo.starter_port}"
    hooks = composed.services["demo-webhooks"].environment
    assert hooks["HUBSPOT_TARGET"] == f"{demo.public_url}/webhooks/hubspot"
    assert hooks["SALESFORCE_TARGET"] == f"{demo.public_url}/webhooks/salesforce/outbound-message"
    assert [secret.get_secret_value() for secret in demo.salesforce_path_secrets] == [hooks["SECRET"]]
    assert hooks["SANDBOX"] == f"http://{host}:{port}"
    assert [secret.get_secret_value() for secret in demo.hubspot_webhook_secrets] == [hooks["SECRET"]]
    for field in (
        "tenant",
        "environment",
        "ledger_url",
        "temporal_namespace",
        "hubspot_token",
        "public_url",
        "salesforce_url",
    ):
        assert getattr(live, field) != getattr(demo, field), field
    assert live.hubspot_base_url == Settings().hubspot_base_url


def test_a_setting_in_the_env_reaches_the_real_thing_but_for_what_the_containers_decide() -> None:
    changed = {
        "LEADPROOF_LEDGER_URL": "sqlite:///elsewhere.db",
        "LEADPROOF_TEMPORAL_ADDRESS": "elsewhere:7233",
        "LEADPROOF_TEMPORAL_API_KEY": "a key for a Temporal elsewhere",
        "LEADPROOF_TEMPORAL_NAMESPACE": "leads",
        "LEADPROOF_SWEEP_SECONDS": "30",
    }
    settings = settings_of(Composed.read(dotenv(**changed)).services["worker"])
    assert settings.sweep_seconds == 30
    assert settings.temporal_namespace == "leads"
    assert settings.temporal_address == "temporal:7233"
    assert settings.temporal_api_key is None
    assert settings.ledger_url.endswith("@postgres:5432/leadproof")


def test_the_operations_page_lists_every_service_and_no_other(composed: Composed) -> None:
    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    section = page.partition("## With docker compose\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]+) \|", section, re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`([\w-]+)`", row)} == set(composed.services)
