"""Lets the sandbox deliver what changes in it: HubSpot's to HUBSPOT_TARGET, signed with SECRET, and Salesforce's to
SALESFORCE_TARGET, whose address ends with SECRET. SANDBOX is the sandbox's own address."""

import json
import os
import urllib.error
import urllib.request


def main(sandbox: str, hubspot: str, salesforce: str, secret: str) -> None:
    if not secret:
        raise SystemExit(
            "DEMO_WEBHOOK_SECRET is empty in .env; set it to 20 or more letters and digits "
            "(`sh deploy/new-env.sh` makes some up)"
        )
    switch_on(sandbox, {"provider": "hubspot", "target": hubspot, "secret": secret})
    switch_on(sandbox, {"provider": "salesforce", "target": f"{salesforce}/{secret}"})


def switch_on(sandbox: str, asked_for: dict[str, str]) -> None:
    asked = urllib.request.Request(  # noqa: S310 - the address is docker-compose.yml's
        f"{sandbox}/_sandbox/webhooks",
        data=json.dumps({**asked_for, "on": True}).encode(),
        headers={"Content-Type": "application/json"},
    )
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        direct.open(asked, timeout=10).close()
    except urllib.error.HTTPError as refused:
        refused.close()
        raise SystemExit(f"the sandbox answers {refused.code}") from None
    except OSError:
        raise SystemExit(f"the sandbox does not answer at {sandbox}") from None


if __name__ == "__main__":
    main(
        os.environ["SANDBOX"],
        os.environ["HUBSPOT_TARGET"],
        os.environ["SALESFORCE_TARGET"],
        os.environ.get("SECRET", ""),
    )
