"""Who may on the review page, as settings say it."""

from __future__ import annotations

import pytest

from leadproof.domain.errors import ConfigurationRefused
from leadproof.settings import Settings, described, load

KEY = "a-key-that-signs-links"
PROXY = {
    "LEADPROOF_REVIEW_KEY": KEY,
    "LEADPROOF_REVIEW_PROXY_HEADER": "X-Forwarded-User",
    "LEADPROOF_REVIEW_PROXY_ADDRESSES": "127.0.0.2, 10.1.0.0/16, 2001:db8::/32",
}


def loaded(**changes: str) -> Settings:
    return load({**PROXY, **{f"LEADPROOF_{name}": value for name, value in changes.items()}}, dotenv=None)


def refused(**changes: str) -> str:
    with pytest.raises(ConfigurationRefused) as error:
        loaded(**changes)
    return str(error.value).removeprefix("these settings are wrong: ")


def test_people_have_a_role_and_queues() -> None:
    settings = loaded(REVIEWERS="dana@example.com:reviewer:west+default, kofi:viewer,CORP\\mira:admin")
    assert [(one.name, one.role, one.queues) for one in settings.reviewers] == [
        ("dana@example.com", "reviewer", {"west", "default"}),
        ("kofi", "viewer", None),
        ("CORP\\mira", "admin", None),
    ]


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("dana", "entry 1: it is `name:role` or `name:role:queue+queue`"),
        (":viewer", "entry 1: it is `name:role` or `name:role:queue+queue`"),
        ("dana:reviewer:", "entry 1: it is `name:role` or `name:role:queue+queue`"),
        ("kofi:viewer,dana:boss", "entry 2: a role is viewer, reviewer or admin"),
        ("dana:reviewer:a++b", "entry 1: a queue is named as the policy names it"),
        ("kofi:viewer, dana:reviewer:a b", "entry 2: a queue is named as the policy names it"),
        ("da na:reviewer", "entry 1: a name has visible characters without `:` and `,`, and is at most 100 long"),
        (
            "kofi:viewer,dána:reviewer",
            "entry 2: a name has visible characters without `:` and `,`, and is at most 100 long",
        ),
        ("kofi:viewer,dana:admin:west", "entry 2: an admin has every queue; leave the queues of an admin out"),
        ("dana:viewer,dana:admin", "one name is there twice; give each person one entry with all their queues"),
    ],
)
def test_people_that_cannot_be_told_what_they_may(value: str, says: str) -> None:
    assert refused(REVIEWERS=value) == f"LEADPROOF_REVIEWERS: {says}"


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("proxy.internal", "an entry is an IP address or a network such as 10.0.0.0/24, not a name"),
        ("10.0.0.1/8", "an entry is an IP address or a network such as 10.0.0.0/24, not a name"),
        ("127.0.0.1:8080", "an entry is an IP address or a network such as 10.0.0.0/24, not a name"),
        ("0.0.0.0/0", "a network of every address there is would let anyone say who they are"),
        ("10.0.0.0/8,::/0", "a network of every address there is would let anyone say who they are"),
    ],
)
def test_addresses_that_are_none_of_a_proxy(value: str, says: str) -> None:
    assert refused(REVIEW_PROXY_ADDRESSES=value) == f"LEADPROOF_REVIEW_PROXY_ADDRESSES: {says}"


@pytest.mark.parametrize("value", ["X Forwarded", "X-Forwarded-User:", "X_Forwarded_User", "-", "ü"])
def test_a_header_that_cannot_be_sent(value: str) -> None:
    assert refused(REVIEW_PROXY_HEADER=value) == (
        "LEADPROOF_REVIEW_PROXY_HEADER: a header's name has letters, digits and `-`"
    )


def test_header_addresses_and_key_go_together() -> None:
    assert refused(REVIEW_PROXY_ADDRESSES="") == (
        "LEADPROOF_REVIEW_PROXY_HEADER counts only from the proxy: set LEADPROOF_REVIEW_PROXY_ADDRESSES to where the "
        "proxy calls from"
    )
    assert refused(REVIEW_PROXY_HEADER="") == (
        "LEADPROOF_REVIEW_PROXY_ADDRESSES names a proxy: set LEADPROOF_REVIEW_PROXY_HEADER to the header in which it "
        "says who is signed in"
    )
    assert refused(REVIEW_KEY="") == (
        "LEADPROOF_REVIEW_PROXY_HEADER lets people in, whose forms are signed: set LEADPROOF_REVIEW_KEY"
    )


def test_a_key_that_can_be_guessed() -> None:
    assert refused(REVIEW_KEY="fifteen-letters") == (
        "LEADPROOF_REVIEW_KEY: it can be guessed: take at least 16 characters, such as `openssl rand -hex 32` prints"
    )


@pytest.mark.parametrize("value", ["0", "-1", "721", "inf", "nan", "a day"])
def test_a_session_of_no_length_or_without_end(value: str) -> None:
    assert refused(REVIEW_SESSION_HOURS=value).startswith("LEADPROOF_REVIEW_SESSION_HOURS: ")


def test_what_is_shown_of_them_reads_as_it_is_written() -> None:
    rows = {name: shown for name, shown, _ in described(loaded(REVIEWERS="dana:reviewer:west+east,kofi:admin"))}
    assert rows["LEADPROOF_REVIEW_KEY"] == "(set)"
    assert rows["LEADPROOF_REVIEWERS"] == "dana:reviewer:east+west, kofi:admin"
    assert rows["LEADPROOF_REVIEW_PROXY_ADDRESSES"] == "127.0.0.2/32, 10.1.0.0/16, 2001:db8::/32"
    assert KEY not in "".join(rows.values())
