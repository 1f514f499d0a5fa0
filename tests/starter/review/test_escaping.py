"""A lead's text is text wherever a page shows it: never markup, never a link, and never turned around."""

from __future__ import annotations

from typing import Any

import pytest

from leadproof.domain.mutation import Reason
from leadproof.domain.review import ReviewDecision
from tests.starter.door import Door
from tests.starter.review.people import Person, Read
from tests.starter.review.questions import FIELDS, approval, edited, refused, unplanned

MARKUP = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'`-->]]></title></textarea></bdi>{{ 7*7 }}${7*7}&lt;"
LINK = "javascript:alert(3)"
TURNED = "gpj.\u202eexe\u202c \u2066isolated\u2069\u200f\u0085\x1b[31m"
LONG = "W" * 10_000
HOSTILE = {
    "first_name": MARKUP,
    "last_name": TURNED,
    "company": LONG,
    "website": LINK,
    "email": f"{MARKUP}@example.com",
    "message": f"{MARKUP}\n{LINK}\n{TURNED}\n{LONG}",
    MARKUP: MARKUP,
}
OURS = {"#main", "/review", "/review/static", "http://temporal.example", "https://app.hubspot.com"}


def harmless(html: str) -> Read:
    page = Read(html)
    for tag, attrs in page.elements:
        assert tag not in {"img", "style", "iframe", "object", "base", "svg"}, tag
        if tag == "script":
            assert str(attrs.get("src", "")).startswith("/review/static/")
        assert not [name for name in attrs if name.startswith("on") or name == "style"]
        for name in ("href", "src", "action", "hx-get"):
            if name in attrs:
                assert any(str(attrs[name]).startswith(start) for start in OURS), attrs
    turning = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\x1b\x85")
    assert not turning & set(html)
    return page


async def everywhere(person: Person, review_id: str) -> list[Read]:
    """Each page that shows a question: the queue, its live part, the question and its live part."""
    return [
        harmless((await person.get(path)).text)
        for path in ("/review", "/review/live", f"/review/{review_id}", f"/review/{review_id}/live")
    ]


async def test_the_lead_is_text_in_the_queue_and_on_its_page(door: Door, dana: Person) -> None:
    item = approval(door, lead=HOSTILE)
    queue, _, page, _ = await everywhere(dana, item.review_id)
    assert MARKUP[:50] in "".join(queue.texts)
    text = "".join(page.texts)
    assert MARKUP in text
    assert LINK in text
    assert "gpj.⟨U+202E⟩exe⟨U+202C⟩ ⟨U+2066⟩isolated⟨U+2069⟩⟨U+200F⟩⟨U+0085⟩⟨U+001B⟩[31m" in text
    assert LONG in text
    assert len(page.all("details")) == 2  # what is longer than a page is folded
    heading = text[text.index("Review queue") :]
    assert LONG[:200] not in heading[:400]


async def test_a_lead_of_a_form_that_has_no_plan(door: Door, dana: Person) -> None:
    item = unplanned(door, record="form-1", lead=HOSTILE)
    page = (await everywhere(dana, item.review_id))[2]
    assert MARKUP in "".join(page.texts)


@pytest.mark.parametrize("make", [approval, edited, refused])
async def test_values_of_the_record_are_text(door: Door, dana: Person, make: Any) -> None:
    fields = {**FIELDS, "lead_status": MARKUP, "qualification_summary": TURNED + LONG, "topics": [MARKUP, LINK]}
    item = make(door, fields=fields, base_state={"owner": MARKUP, "lead_status": LINK, "topics": None})
    page = (await everywhere(dana, item.review_id))[2]
    text = "".join(page.texts)
    assert text.count(MARKUP) >= 3  # stood, intended, and in what would be written
    assert LINK in text


async def test_who_changed_it_and_which_record_it_is_are_text(door: Door, dana: Person) -> None:
    item = edited(door, by=f"person:{MARKUP}", provider_record_id=f"../../{LINK}")
    page = (await everywhere(dana, item.review_id))[2]
    assert f"person {MARKUP}" in "".join(page.texts)
    assert not [
        link for link in page.links if "app.hubspot.com" in link
    ]  # an id that is none of HubSpot's is no address


async def test_what_people_write_is_text(door: Door, dana: Person) -> None:
    item = approval(door)
    door.ledger.record_decision(
        ReviewDecision(
            decision_id="d1", review_id=item.review_id, version=1, decision="abandon", reason=f"{MARKUP}{TURNED}"
        ),
        reviewer=f"temporal:{MARKUP}",
        via=f"api, claims to be {MARKUP}",
    )
    page = (await everywhere(dana, item.review_id))[2]
    assert MARKUP in "".join(page.texts)
    answer = await dana.sends(item.review_id, {**page.fields(), "decision": "fly", "reason": MARKUP + TURNED})
    assert answer.status_code == 422
    kept = harmless(answer.text)
    assert MARKUP in "".join(kept.texts)


async def test_what_the_address_says_is_text(door: Door, dana: Person) -> None:
    approval(door)
    asked = {"queue": MARKUP, "source": LINK, "reason": Reason.NEEDS_APPROVAL, "target": "'\"><b>"}
    for path in ("/review", "/review/live"):
        page = harmless((await dana.get(path, **asked)).text)
        assert page.rows == []
    harmless((await dana.get("/review", age=MARKUP)).text)
    harmless((await dana.get(f"/review/{'0' * 64}")).text)


async def test_what_is_not_seen_is_written_out(door: Door, dana: Person) -> None:
    unseen = "\u00ad\u034f\u115f\u180e\u200b\u2064\u206f\u3164\uffa0\U000e0001\U000e0041\U000e01ef"
    item = approval(door, lead={"first_name": f"Mi{unseen}ra", "company": "क्\u200dष ❤\ufe0f"})
    page = (await everywhere(dana, item.review_id))[2]
    text = "".join(page.texts)
    assert f"Mi{''.join(f'⟨U+{ord(one):04X}⟩' for one in unseen)}ra" in text
    assert "क्\u200dष ❤\ufe0f" in text  # what letters and pictures are joined and chosen by stays
