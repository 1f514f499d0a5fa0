"""The published vectors of HubSpot's signatures recompute."""

from sandbox.hubspot import signatures

V3_BODY = (
    b'[{"eventId":531833541,"subscriptionId":3923621,"portalId":48807704,"appId":16111050,'
    b'"occurredAt":1752613920733,"subscriptionType":"contact.creation","attemptNumber":0,'
    b'"objectId":138017612137,"changeFlag":"CREATED","changeSource":"CRM_UI","sourceId":"userId:76023669"}]'
)
V1_BODY = (
    b'[{"eventId":1,"subscriptionId":12345,"portalId":62515,"occurredAt":1564113600000,'
    b'"subscriptionType":"contact.creation","attemptNumber":0,"objectId":123,"changeSource":"CRM",'
    b'"changeFlag":"NEW","appId":54321}]'
)


def test_published_vector_of_v3() -> None:
    signature = signatures.v3(
        "cfc68c0b-4b4e-4ef8-b764-95350e4ea479",
        "POST",
        "https://webhook.site/335453f5-94b3-49d9-b684-a55354d4b8df",
        V3_BODY,
        1752613922216,
    )
    assert signature == "gbj1XPRvUt0noT7i7fXfTzOD4sLzQmf0VT28ZYq0EYg="


def test_published_vector_of_v1() -> None:
    signature = signatures.v1("yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy", V1_BODY)
    assert signature == "232db2615f3d666fe21a8ec971ac7b5402d33b9a925784df3ca654d05f4817de"


def test_escapes_in_a_query_are_undone_before_signing() -> None:
    uri = "https://example.com/hooks?src=hs%3Aapp%2Fv3&x=%28a%29"
    plain = "https://example.com/hooks?src=hs:app/v3&x=(a)"
    assert signatures.v3("secret", "POST", uri, b"[]", 1) == signatures.v3("secret", "POST", plain, b"[]", 1)


def test_only_documented_escapes_are_undone() -> None:
    assert signatures.decoded("/a%3ab%20c%2Bd%26e%40") == "/a:b%20c%2Bd%26e@"
