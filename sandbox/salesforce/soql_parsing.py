"""The clauses of a query, in their order."""

from sandbox.salesforce.soql_conditions import condition
from sandbox.salesforce.soql_errors import Malformed, OutOfRange
from sandbox.salesforce.soql_reading import Reading
from sandbox.salesforce.soql_syntax import Name, Order, Query

MOST_SKIPPED = 2_000


def parse(text: str) -> Query:
    """Take a query apart.

    Raises:
        Malformed: it is no query, or it has something outside the subset, which the message names.
        OutOfRange: it skips more rows than is allowed.
    """
    reading = Reading(text)
    query = _query(reading, inner=False)
    if reading.token.kind != "end":
        raise reading.unexpected(reading.token)
    return query


def _query(reading: Reading, *, inner: bool) -> Query:
    reading.expect("SELECT")
    counts = reading.take("COUNT", "(", ")")
    if counts and inner:
        raise reading.malformed("COUNT() in a subquery is not understood")
    selected = () if counts else _selected(reading, inner=inner)
    reading.expect("FROM")
    source = reading.name()
    if "." in source.text:
        raise Malformed(f"'{source.text}': a source with a relationship is not understood", reading.text, source.at)
    where = condition(reading) if reading.take("WHERE") else None
    order = _orders(reading) if reading.take("ORDER", "BY") else ()
    limit = reading.count() if reading.take("LIMIT") else None
    if inner and reading.word() == "OFFSET":
        raise reading.malformed("OFFSET in a subquery is not understood")
    offset = reading.count() if reading.take("OFFSET") else 0
    if offset > MOST_SKIPPED:
        raise OutOfRange(f"Maximum SOQL offset allowed is {MOST_SKIPPED}")
    return Query(reading.text, selected, counts, source, where, order, limit, offset)


def _selected(reading: Reading, *, inner: bool) -> tuple[Name | Query, ...]:
    chosen = [_choice(reading, inner=inner)]
    while reading.take(","):
        chosen.append(_choice(reading, inner=inner))
    names = [choice.text.lower() for choice in chosen if isinstance(choice, Name)]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise reading.malformed(f"duplicate field selected: {twice}")
    return tuple(chosen)


def _choice(reading: Reading, *, inner: bool) -> Name | Query:
    if not reading.take("("):
        return reading.field()
    if inner:
        raise reading.malformed("a subquery in a subquery is not understood")
    query = _query(reading, inner=True)
    reading.expect(")")
    return query


def _orders(reading: Reading) -> tuple[Order, ...]:
    orders = [_order(reading)]
    while reading.take(","):
        orders.append(_order(reading))
    return tuple(orders)


def _order(reading: Reading) -> Order:
    field = reading.field()
    descending = not reading.take("ASC") and reading.take("DESC")
    nulls_last = False
    if reading.take("NULLS"):
        nulls_last = reading.take("LAST")
        if not nulls_last:
            reading.expect("FIRST")
    return Order(field, descending, nulls_last)
