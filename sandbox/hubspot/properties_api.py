"""Property definitions over HTTP."""

from sandbox.hubspot.definitions import Definitions
from sandbox.provider import Influence
from sandbox.wire import Answer, Call


class PropertiesApi:
    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions

    def list(self, call: Call, _: Influence) -> Answer:
        return Answer(200, {"results": self._definitions.all(archived=call.flag("archived"))})

    def read(self, call: Call, _: Influence) -> Answer:
        return Answer(200, self._definitions.one(call.segments[-1], archived=call.flag("archived")))

    def create(self, call: Call, _: Influence) -> Answer:
        return Answer(201, self._definitions.create(call.body), applied=True)

    def update(self, call: Call, _: Influence) -> Answer:
        return Answer(200, self._definitions.update(call.segments[-1], call.body), applied=True)

    def archive(self, call: Call, _: Influence) -> Answer:
        self._definitions.archive(call.segments[-1])
        return Answer(204, applied=True)
