"""What the page says to somebody for whom it has nothing else."""

from __future__ import annotations

from starter.review.sign_in import COOKIE
from tests.starter.door import Door
from tests.starter.review.entrance import seals
from tests.starter.review.people import HEADER, Person, Read


async def test_an_address_that_is_none_is_said_in_a_persons_words(dana: Person) -> None:
    for address in ("/review/nowhere/at/all", f"/review/{'0' * 64}"):
        answer = await dana.get(address)
        assert answer.status_code == 404
        assert "This page does not exist" in Read(answer.text).text
        assert "Nothing stands" not in answer.text


async def test_a_name_that_is_not_listed_is_shown_to_who_came_with_it_as_text(door: Door) -> None:
    for name, shown in (("Dana", "Dana"), ("<b>dana</b>", "<b>dana</b>")):
        answer = await door.http.get("/review", headers={HEADER: name})
        page = Read(answer.text)
        assert answer.status_code == 403
        assert f"The proxy says that you are {shown}." in page.text.replace("  ", " ").replace(" .", ".")
        assert "letter by letter" in page.text
        assert not page.all("b")


async def test_who_comes_through_a_proxy_is_offered_no_sign_out_of_ours(door: Door, dana: Person) -> None:
    assert "Sign out" not in (await dana.reads("/review")).text
    deployment = f"{door.settings.tenant}/{door.settings.environment}"
    session = seals(deployment=deployment).session("decide", now=door.clock.now())
    page = Read((await door.http.get("/review", headers={"cookie": f"{COOKIE}={session}"})).text)
    assert "Sign out" in page.text
