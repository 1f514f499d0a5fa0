"""What every answer under `/review` says to the browser."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest
from temporalio.client import Client

from leadproof.ledger.schema import upgrade
from tests.starter.door import POLICY, TOKENS, Door, settings_of
from tests.starter.review.entrance import KEY, Named, a_browser, an_app, hidden, review_settings, text_of
from tests.starter.review.people import Read
from tests.starter.test_reviews import a_question
from tests.support.ledgers import HandClock, sqlite_ledger
from tests.support.serving import free_port, serving

POLICY_OF_CONTENT = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
KEPT_A_YEAR = "public, max-age=31536000, immutable"


def guarded(answer: httpx.Response, kept: str = "no-store") -> bool:
    said = answer.headers
    return (
        said.get_list("content-security-policy") == [POLICY_OF_CONTENT]
        and said["x-content-type-options"] == "nosniff"
        and said["referrer-policy"] == "same-origin"
        and said["cross-origin-opener-policy"] == "same-origin"
        and said["cross-origin-resource-policy"] == "same-origin"
        and said.get_list("cache-control") == [kept]
    )


async def test_every_answer_of_the_page_is_guarded(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("starter.decisions.ANSWER_SECONDS", 0.2)  # nobody works here
    item, _ = await a_question(door)
    here = f"/review/{item.review_id}"
    dana, stranger = Named(door.http, "dana"), Named(door.http, "stranger")
    page = await dana.get(here)
    answers = {
        200: [await dana.get("/review"), page, await door.http.get("/review/sign-in")],
        303: [await dana.sends(item.review_id, await dana.form(item.review_id, "approve"))],
        401: [await door.http.get("/review"), await door.http.get(here), await door.http.get("/review/none")],
        403: [await stranger.get("/review"), await dana.sends(item.review_id, {"csrf": "x"})],
        404: [
            await dana.get("/review/none"),
            await dana.get("/review/static/x/review.css"),
            await dana.get("/review/"),
        ],
        405: [await door.http.put("/review"), await door.http.delete(here)],
        415: [await door.http.post("/review/sign-in", content=b"{}")],
        422: [await dana.sends(item.review_id, await dana.form(item.review_id, "fly"))],
    }
    for status, given in answers.items():
        for answer in given:
            assert (answer.status_code, guarded(answer)) == (status, True), (answer.url, answer.headers)
            assert answer.status_code == 303 or answer.headers["content-type"] == "text/html; charset=utf-8"


async def test_what_the_page_loads_is_ours_and_kept_by_what_is_in_it(door: Door) -> None:
    page = Read((await Named(door.http, "dana").get("/review")).text)
    loaded = [one.get("src") for one in page.all("script")] + [one.get("href") for one in page.all("link")]
    assert len(loaded) >= 2
    for address in loaded:
        assert address is not None
        assert re.fullmatch(r"/review/static/[0-9a-f]{16}/[a-z.]+", address), address
        assert guarded(await door.http.get(address), KEPT_A_YEAR)  # also where nobody is signed in
    assert not [one for _, one in page.elements if "style" in one or any(name.startswith("on") for name in one)]


async def test_a_fault_of_ours_is_guarded_too(tmp_path: Path) -> None:
    clock = HandClock()
    with sqlite_ledger(tmp_path / "ledger.db", clock) as ledger:
        app = an_app(review_settings(), ledger, clock)
        app.add_api_route("/review/fault", lambda: 1 // 0, methods=["GET"])
        app.add_api_route("/reviews", lambda: {}, methods=["GET"])
        with a_browser(app, clock) as visitor:
            visitor.http._transport.raise_app_exceptions = False  # type: ignore[attr-defined]
            fault = await visitor.http.get("/review/fault")
            assert (fault.status_code, guarded(fault)) == (500, True)
            assert "ZeroDivision" not in fault.text
            assert "content-security-policy" not in (await visitor.http.get("/reviews")).headers


@pytest.mark.parametrize("path", ["/healthz", "/v1/reviews", "/metrics", "/none", "/openapi.json"])
async def test_what_is_no_page_is_left_alone(door: Door, path: str) -> None:
    answer = await door.get(path)
    assert "content-security-policy" not in answer.headers
    assert "text/html" not in answer.headers.get("content-type", "")


async def test_a_browser_signs_in_at_the_process_and_is_not_told_what_serves_it(
    unworked: Client, tmp_path: Path
) -> None:
    port = free_port()
    settings = settings_of(
        LEADPROOF_LEDGER_URL=f"sqlite:///{tmp_path / 'ledger.db'}",
        LEADPROOF_POLICY=str(POLICY),
        LEADPROOF_PUBLIC_URL=f"http://127.0.0.1:{port}",
        LEADPROOF_REVIEW_KEY=KEY,
        LEADPROOF_STARTER_PORT=str(port),
        LEADPROOF_TEMPORAL_ADDRESS=unworked.service_client.config.target_host,
        LEADPROOF_TEMPORAL_NAMESPACE=unworked.namespace,
    )
    upgrade(settings.ledger_url)
    async with serving(settings) as address, httpx.AsyncClient(base_url=address, follow_redirects=True) as browser:
        token = {"authorization": f"Bearer {TOKENS['decide']}"}
        url = (await browser.post("/v1/reviews/links", headers=token)).json()["url"]
        page = await browser.get(url)
        (form,) = Read(page.text).all("form", method="post")
        fields = {"link": text_of(url)}
        queue = await browser.post(str(form["action"]), data=fields, headers={"origin": address})
        assert (queue.status_code, queue.url.path) == (200, "/review")
        assert "Signed in as api:decide, admin" in Read(queue.text).text
        assert [answer.headers.get("server") for answer in (page, queue)] == [None, None]
        out = await browser.post("/review/sign-out", data={"csrf": hidden(queue.text, "csrf")})
        assert (out.status_code, out.url.path) == (200, "/review/sign-in")
        assert (await browser.get("/review")).status_code == 401
