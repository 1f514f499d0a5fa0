# Each target is a line that a person could type; the two stamps do the set-up once.
PYTHON ?= python3
BIN := .venv/bin
STACKS := tests/console/test_stack.py tests/test_compose_rehearsal.py tests/test_wheel.py tests/browser \
	tests/conformance/test_live.py tests/workflows/test_many.py tests/workers/test_start.py tests/workers/test_systems.py \
	tests/ledger/test_races.py tests/console/test_doctor.py \
	tests/console/test_leaving.py tests/console/test_replay.py tests/sandbox/test_server.py tests/articles

.PHONY: demo test system check bench soak live live-named crash

demo: .venv/ready  ## the main job end to end on embedded parts
	$(BIN)/leadproof demo $(DEMO_ARGS)

# Ledgers of tests lie in memory where there is room for them. What one process has compiled, the others read, also
# where the environment says otherwise.
ROOM := $(if $(wildcard /dev/shm/.),PYTEST_DEBUG_TEMPROOT=/dev/shm)
PYTEST := PYTHONDONTWRITEBYTECODE= $(ROOM) $(BIN)/python -m pytest

test: .venv/ready-dev  ## what is proved of every part, and of all of them together
	$(PYTEST) -n 4 --dist worksteal --ignore tests/articles $(TEST_ARGS)

system: .venv/ready-dev  ## whole installations and processes: the demonstration, `up`, docker-compose.yml, the wheel, `make live`; the articles' checklists; a browser
	$(PYTEST) -n 2 --dist loadfile -m "stack or browser or articles" $(SYSTEM_ARGS) $(STACKS)

crash: .venv/ready-dev  ## every fault that kills, alone on the machine: it says how long recovering takes
	$(BIN)/python -m pytest -n 0 -m crash $(CRASH_ARGS) tests/crash

check: .venv/ready-dev  ## style, types and which way imports run
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/lint-imports

bench: .venv/ready-dev  ## writes bench/RESULTS.md
	$(BIN)/python -m bench

soak: .venv/ready-dev  ## many leads, every fault, processes killed: some minutes; SOAK_ARGS='--seed 7 --leads 60'
	$(BIN)/python -m soak $(SOAK_ARGS)

# what names no account ends before anything is installed for it
live:  ## the cases on real test accounts that LEADPROOF_LIVE names; docs/live.md
	@if test -n "$$LEADPROOF_LIVE"; then $(MAKE) --no-print-directory live-named; \
	else echo 'nothing was tried: LEADPROOF_LIVE names no account that may be written to (docs/live.md says how)'; fi

live-named: .venv/ready-dev
	$(BIN)/python -m tests.conformance.live $(LIVE_ARGS)

.venv/ready: requirements.lock pyproject.toml
	@echo 'installing into .venv, the first time only: some minutes'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	touch $@

.venv/ready-dev: requirements-dev.lock .venv/ready
	@echo 'installing what tests and checks need into .venv, the first time only: some minutes'
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements-dev.lock
	touch $@
