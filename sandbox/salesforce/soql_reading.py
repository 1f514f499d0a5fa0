"""A query's tokens, read one after the other."""

from sandbox.salesforce.soql_errors import Malformed
from sandbox.salesforce.soql_syntax import Name
from sandbox.salesforce.soql_tokens import Token, tokens

KEYWORDS = frozenset(
    (
        *("SELECT", "FROM", "USING", "WHERE", "WITH", "HAVING", "LIMIT", "OFFSET"),
        *("AND", "OR", "NOT", "IN", "LIKE", "INCLUDES", "EXCLUDES", "NULL"),
        *("ASC", "DESC", "NULLS", "FIRST", "LAST"),
    )
)
"""Words that no field is called by."""

LONGEST_COUNT = 9
"""Digits of a limit or an offset."""


class Reading:
    def __init__(self, text: str) -> None:
        self.text = text
        self._tokens = tokens(text)
        self._next = 0

    @property
    def token(self) -> Token:
        return self._tokens[self._next]

    def word(self) -> str:
        return self.token.word

    def next(self) -> Token:
        token = self.token
        self._next = min(self._next + 1, len(self._tokens) - 1)
        return token

    def take(self, *texts: str) -> bool:
        """Read these words or symbols, if they all come next."""
        coming = self._tokens[self._next : self._next + len(texts)]
        if [token.word or token.text for token in coming] != list(texts):
            return False
        self._next += len(texts)
        return True

    def expect(self, *texts: str) -> None:
        if not self.take(*texts):
            raise self.unexpected(self.token, f"expecting {' '.join(texts)}")

    def field(self) -> Name:
        """A field, or a field of a parent."""
        name = self.name()
        if name.text.count(".") > 1:
            raise self.malformed(f"'{name.text}': only one relationship before a field is understood")
        if self.token.text == "(":
            raise self.malformed(f"{name.text}(): functions are not understood")
        return name

    def name(self) -> Name:
        token = self.next()
        if token.kind != "name" or token.word in KEYWORDS:
            raise self.unexpected(token)
        return Name(token.text, token.at)

    def count(self) -> int:
        token = self.next()
        if token.kind != "number" or not token.text.isdigit() or len(token.text) > LONGEST_COUNT:
            raise self.unexpected(token)
        return int(token.text)

    def unexpected(self, token: Token, more: str = "") -> Malformed:
        what = f"unexpected token: '{token.text}'"
        return self.malformed(f"{what} ({more})" if more else what, token)

    def malformed(self, what: str, token: Token | None = None) -> Malformed:
        return Malformed(what, self.text, (token or self.token).at)
