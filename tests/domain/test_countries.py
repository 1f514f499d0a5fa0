from __future__ import annotations

import phonenumbers
import pytest

from leadproof.domain import countries


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("United States of America", "US"),
        ("U.S.A.", "US"),
        ("usa", "US"),
        ("The Netherlands", "NL"),
        ("UK", "GB"),
        ("Cote d'Ivoire", "CI"),
        ("CÔTE D\u2019IVOIRE", "CI"),
        ("Trinidad & Tobago", "TT"),
        ("Österreich", "AT"),
        ("turkey", "TR"),
        ("Guinea-Bissau", "GW"),
        ("Guinea", "GN"),
        ("Niger", "NE"),
        ("Nigeria", "NG"),
        ("Dominica", "DM"),
        ("Korea, Republic of", "KR"),
        ("DR Congo", "CD"),
    ],
)
def test_codes_and_names_lead_to_the_code(text: str, code: str) -> None:
    assert countries.code(text) == code


@pytest.mark.parametrize("text", ["", "EU", "Atlantis", "Europe", "123", "the"])
def test_anything_else_names_no_country(text: str) -> None:
    assert countries.code(text) is None


def test_every_region_with_telephone_numbers_is_known() -> None:
    without_code_of_its_own = {"AC", "TA"}  # parts of SH with numbers of their own

    unknown = {region for region in phonenumbers.SUPPORTED_REGIONS if countries.code(region) != region}

    assert unknown == without_code_of_its_own
