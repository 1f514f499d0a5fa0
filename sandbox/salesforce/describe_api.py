"""What an org says of its objects and their fields."""

import base64
from collections.abc import Callable
from typing import Any

from sandbox.provider import Influence
from sandbox.salesforce.object_api import ObjectApi
from sandbox.salesforce.reading import base_of
from sandbox.salesforce.schema import HISTORIES, Field, Object, Schema
from sandbox.wire import Answer, Call

SOAP_TYPES = {
    "id": "tns:ID",
    "reference": "tns:ID",
    "boolean": "xsd:boolean",
    "int": "xsd:int",
    "double": "xsd:double",
    "currency": "xsd:double",
    "date": "xsd:date",
    "datetime": "xsd:dateTime",
    "anyType": "xsd:anyType",
}


class DescribeApi:
    def __init__(self, schema: Schema, objects: ObjectApi) -> None:
        self._schema = schema
        self._objects = objects

    def all(self, call: Call, _: Influence) -> Answer:
        shown = [_object(kind, base_of(call)) for kind in self._schema if kind.prefix]
        return Answer(200, {"encoding": "UTF-8", "maxBatchSize": 200, "sobjects": shown})

    def basic(self, call: Call, _: Influence) -> Answer:
        return Answer(200, {"objectDescribe": _object(self._objects.kind(call), base_of(call)), "recentItems": []})

    def describe(self, call: Call, _: Influence) -> Answer:
        kind = self._objects.kind(call)
        return Answer(
            200,
            {
                **_object(kind, base_of(call)),
                "childRelationships": _children(kind),
                "recordTypeInfos": [],
                "fields": [_field(kind, field) for field in kind.fields.values()],
            },
        )


def _object(kind: Object, base: str) -> dict[str, Any]:
    path = f"{base}/sobjects/{kind.name}"
    return {
        "name": kind.name,
        "label": kind.label,
        "labelPlural": f"{kind.label}s",
        "keyPrefix": kind.prefix,
        "custom": False,
        "queryable": True,
        "retrieveable": True,
        "createable": kind.writable,
        "updateable": kind.writable,
        "deletable": kind.writable,
        "undeletable": kind.writable,
        "mergeable": kind.writable,
        "urls": {"sobject": path, "describe": f"{path}/describe", "rowTemplate": f"{path}/{{ID}}"},
    }


def _children(kind: Object) -> list[dict[str, Any]]:
    history = HISTORIES.get(kind.name)
    if history is None:
        return []
    return [
        {"childSObject": history, "field": f"{kind.name}Id", "relationshipName": "Histories", "cascadeDelete": True}
    ]


def _field(kind: Object, field: Field) -> dict[str, Any]:
    writable = kind.writable and not field.read_only
    return {
        "name": field.name,
        "label": field.label,
        "type": field.type,
        "soapType": SOAP_TYPES.get(field.type, "xsd:string"),
        "length": 0 if field.type in {"int", "currency", "double", "boolean"} else field.length,
        "digits": field.length if field.type == "int" else 0,
        "precision": 18 if field.type in {"currency", "double"} else 0,
        "scale": 0,
        "nillable": not (field.required or field.type == "boolean" or field.name in {"Id", "OwnerId"}),
        "defaultedOnCreate": field.type == "boolean" or field.default is not None or field.name == "OwnerId",
        "createable": writable,
        "updateable": writable,
        "custom": field.custom,
        "unique": field.unique,
        "caseSensitive": field.case_sensitive,
        "externalId": field.external_id,
        "idLookup": field.id_lookup or field.name == "Id",
        "calculated": False,
        "filterable": field.type != "textarea",
        "sortable": field.type not in {"textarea", "multipicklist"},
        "restrictedPicklist": field.restricted,
        "dependentPicklist": field.controller is not None,
        "controllerName": field.controller,
        "picklistValues": [_option(field, place, kind.field) for place in range(len(field.options))],
        "referenceTo": list(field.references),
        "relationshipName": field.name.removesuffix("Id") if field.references else None,
    }


def _option(field: Field, place: int, find: Callable[[str], Field | None]) -> dict[str, Any]:
    option = field.options[place]
    shown: dict[str, Any] = {
        "value": option.value,
        "label": option.label,
        "active": option.active,
        "defaultValue": option.default,
        "validFor": None,
    }
    controller = find(field.controller) if field.controller else None
    if controller:
        shown["validFor"] = _valid_for([each.value in option.of for each in controller.options])
    return shown


def _valid_for(flags: list[bool]) -> str:
    """A bit for each value of the controlling field, the first as the highest of the first byte."""
    size = (len(flags) + 7) // 8
    bits = sum(1 << (size * 8 - 1 - place) for place, flag in enumerate(flags) if flag)
    return base64.b64encode(bits.to_bytes(size, "big")).decode()
