"""A signal that a record is free reaches each mutation that waits."""

from __future__ import annotations

from workflows.freeing import Freeing


def test_what_frees_one_record_is_not_used_up_by_a_mutation_that_waits_for_another() -> None:
    freeing = Freeing()
    freeing.freed()
    freeing.asks("one")
    assert (freeing.since("one"), freeing.since("other")) == (False, True)
    freeing.asks("other")
    assert not freeing.since("other")


def test_what_is_freed_while_it_asks_lets_it_ask_again() -> None:
    freeing = Freeing()
    freeing.asks("one")
    freeing.freed()
    assert freeing.since("one")
