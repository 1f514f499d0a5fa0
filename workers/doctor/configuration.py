"""What can be said of settings and policy without asking anybody."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from leadproof.domain.environment import SHADOW
from leadproof.domain.errors import PolicyRefused
from leadproof.domain.policy import Policy
from leadproof.domain.policy_text import doubts
from leadproof.setting_lists import unknown_queues
from leadproof.settings import Settings, check_mode
from workers.compose import read_policy
from workers.doctor.report import Report
from workers.systems.hubspot import HUBSPOT
from workers.systems.salesforce import SALESFORCE

SETTINGS = "settings"
MODE = "mode"
POLICY = "policy"
DECISION_KEY = "decision-key"
API_TOKENS = "api-tokens"
REVIEW_PAGE = "review-page"
SECRET = "hubspot.webhook-secret"  # noqa: S105  a name
PATH_SECRET = "salesforce.path-secret"  # noqa: S105  a name
PUBLIC_URL = "public-url"

_CHECKS = (MODE, POLICY, DECISION_KEY, API_TOKENS, REVIEW_PAGE, SECRET, PUBLIC_URL)


def without_settings(report: Report) -> None:
    report.skip("the settings cannot be read", *_CHECKS)


def examine(settings: Settings, report: Report) -> Policy | None:
    """Check the configuration; the policy, where it is accepted."""
    _mode(settings, report)
    policy = _policy(settings, report)
    _decision_key(settings, policy, report)
    _api_tokens(settings, report)
    _review_page(settings, policy, report)
    _webhooks(settings, policy, report)
    return policy


def _mode(settings: Settings, report: Report) -> None:
    with report.guarded(MODE):
        check_mode(settings)
        report.ok(MODE, "shadow: nothing is written" if settings.mode == SHADOW else "live")


def _policy(settings: Settings, report: Report) -> Policy | None:
    with report.guarded(POLICY):
        try:
            policy = read_policy(settings.policy)
        except PolicyRefused as error:
            report.wrong(
                POLICY, str(error), f"`leadproof policy check {settings.policy}` says all that is wrong with it"
            )
            return None
        report.ok(POLICY, f"version {policy.version} is accepted")
        for doubt in doubts(policy):
            report.warn(POLICY, str(doubt), "write such a rule, or take the event out, in a policy of a new version")
        return policy
    return None


def _decision_key(settings: Settings, policy: Policy | None, report: Report) -> None:
    do = "set LEADPROOF_DECISION_KEY to one long random text, the same for starter and workers"
    strict = sorted(name for name, queue in policy.queues.items() if not queue.raw_signals_count) if policy else []
    if settings.decision_key is not None:
        report.ok(DECISION_KEY, "it is set")
    elif strict:
        says = f"it is not set, so that no decision counts in the queues {', '.join(strict)}"
        report.wrong(DECISION_KEY, says, do)
    else:
        report.warn(DECISION_KEY, "it is not set, so that nobody's name stands under a decision", do)


def _api_tokens(settings: Settings, report: Report) -> None:
    rights = {right for token in settings.api_tokens for right in token.rights}
    lacking = [right for right in ("events", "read", "decide") if right not in rights]
    do = "set LEADPROOF_API_TOKENS, as in `form:events:SECRET,reviewers:read+decide:SECRET`"
    if not settings.api_tokens:
        report.warn(API_TOKENS, "there are none, so that the API and `leadproof review` refuse everybody", do)
    elif "decide" in lacking or "read" in lacking:
        report.warn(API_TOKENS, f"none has the right {' or '.join(lacking)}", do)
    else:
        report.ok(API_TOKENS, f"{len(settings.api_tokens)} set")


def _review_page(settings: Settings, policy: Policy | None, report: Report) -> None:
    unknown = unknown_queues(settings.reviewers, policy.queues) if policy is not None else []
    if unknown:
        says = (
            f"LEADPROOF_REVIEWERS names queues that the policy does not have ({', '.join(unknown)}): no starter starts"
        )
        report.wrong(REVIEW_PAGE, says, "name the policy's queues in LEADPROOF_REVIEWERS")
    elif settings.review_key is None:
        do = "set LEADPROOF_REVIEW_KEY to what `openssl rand -hex 32` prints"
        report.warn(REVIEW_PAGE, "LEADPROOF_REVIEW_KEY is not set, so that nobody can sign in to the review page", do)
    elif settings.reviewers and settings.review_proxy_header is None:
        do = "set LEADPROOF_REVIEW_PROXY_HEADER and LEADPROOF_REVIEW_PROXY_ADDRESSES, as docs/review.md says"
        report.warn(REVIEW_PAGE, "LEADPROOF_REVIEWERS names people, and no proxy says who they are", do)
    elif settings.review_proxy_header is not None and not settings.reviewers:
        do = "name them in LEADPROOF_REVIEWERS, as in `dana@example.com:reviewer`"
        report.warn(REVIEW_PAGE, "a proxy says who people are, and LEADPROOF_REVIEWERS lets none of them in", do)
    else:
        people = f", and for {len(settings.reviewers)} whom the proxy names" if settings.reviewers else ""
        report.ok(REVIEW_PAGE, f"for whoever opens a one-time link{people}")


def _webhooks(settings: Settings, policy: Policy | None, report: Report) -> None:
    if policy is not None and all(event.source != HUBSPOT.name for event in policy.events):
        report.skip("the policy acts on no event of HubSpot", SECRET)
    elif settings.hubspot_webhook_secrets:
        report.ok(SECRET, f"{len(settings.hubspot_webhook_secrets)} set")
    else:
        says = "none is set, so that every delivery of HubSpot is answered 401"
        report.wrong(SECRET, says, "set LEADPROOF_HUBSPOT_WEBHOOK_SECRETS to the client secret of the app")
    if policy is not None and any(event.source == SALESFORCE.name for event in policy.events):
        _outbound_messages(settings, report)
    _public_url(settings.public_url, report)


def _outbound_messages(settings: Settings, report: Report) -> None:
    if settings.salesforce_path_secrets:
        report.ok(PATH_SECRET, f"{len(settings.salesforce_path_secrets)} set")
        return
    says = "none is set, so that no outbound message of Salesforce is taken"
    report.wrong(
        PATH_SECRET, says, "set LEADPROOF_SALESFORCE_PATH_SECRETS to a long random text, as docs/salesforce.md says"
    )


def _public_url(url: str, report: Report) -> None:
    do = "set LEADPROOF_PUBLIC_URL to the starter's https address, exactly as the sources call it"
    parts = urlsplit(url)
    host = parts.hostname or ""  # the settings hold no address without one
    if _only_here(host):
        report.warn(PUBLIC_URL, f"{host} cannot be reached from outside", do)
    elif parts.scheme != "https":
        report.warn(PUBLIC_URL, f"leads reach {host} unencrypted, and HubSpot delivers to https only", do)
    else:
        report.ok(PUBLIC_URL, f"https, at {host}")


def _only_here(host: str) -> bool:
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return host == "localhost" or host.endswith((".localhost", ".local", ".internal"))
