# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Checks an HTTP archive against the rules of HAR 1.2, written as a JSON schema, and Chromium's for WebSockets."""

import json
import sys

from jsonschema import Draft202012Validator


def an_object(required, optional=None, closed=True):
    """An object of these members; what begins with an underscore is free, and all else is refused."""
    schema = {"type": "object", "required": list(required), "properties": {**required, **(optional or {})}}
    if closed:
        schema["patternProperties"] = {"^_": {}}
        schema["additionalProperties"] = False
    return schema


TEXT = {"type": "string"}
NUMBER = {"type": "number"}
SIZE = {"type": "integer", "minimum": -1}
DURATION = {"type": "number", "minimum": -1}
DATE = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$"}
COMMENT = {"comment": TEXT}
PAIR = an_object({"name": TEXT, "value": TEXT}, COMMENT)
COOKIE = an_object(
    {"name": TEXT, "value": TEXT},
    {"path": TEXT, "domain": TEXT, "expires": TEXT, "httpOnly": {"type": "boolean"}, "secure": {"type": "boolean"},
     **COMMENT},
)


def some(schema):
    return {"type": "array", "items": schema}


POST_DATA = an_object(
    {"mimeType": TEXT},
    {"text": TEXT, "params": some(an_object({"name": TEXT}, {"value": TEXT, "fileName": TEXT})), **COMMENT},
)
REQUEST = an_object(
    {"method": TEXT, "url": {"type": "string", "pattern": "^[a-z]+://"}, "httpVersion": TEXT, "cookies": some(COOKIE),
     "headers": some(PAIR), "queryString": some(PAIR), "headersSize": SIZE, "bodySize": SIZE},
    {"postData": POST_DATA, **COMMENT},
)
CONTENT = an_object(
    {"size": SIZE, "mimeType": TEXT}, {"compression": NUMBER, "text": TEXT, "encoding": TEXT, **COMMENT}
)
RESPONSE = an_object(
    {"status": {"type": "integer"}, "statusText": TEXT, "httpVersion": TEXT, "cookies": some(COOKIE),
     "headers": some(PAIR), "content": CONTENT, "redirectURL": TEXT, "headersSize": SIZE, "bodySize": SIZE},
    COMMENT,
)
TIMINGS = an_object(
    {"send": {"type": "number", "minimum": 0}, "wait": {"type": "number", "minimum": 0},
     "receive": {"type": "number", "minimum": 0}},
    {"blocked": DURATION, "dns": DURATION, "connect": DURATION, "ssl": DURATION, **COMMENT},
)
MESSAGE = an_object(
    {"type": {"enum": ["send", "receive"]}, "time": {"type": "number", "exclusiveMinimum": 1e9, "maximum": 1e10},
     "opcode": {"enum": [0, 1, 2, 8, 9, 10]}, "data": TEXT}
)
ENTRY = an_object(
    {"startedDateTime": DATE, "time": {"type": "number", "minimum": 0}, "request": REQUEST, "response": RESPONSE,
     "cache": {"type": "object"}, "timings": TIMINGS},
    {"pageref": TEXT, "serverIPAddress": TEXT, "connection": TEXT, **COMMENT},
)
ENTRY["patternProperties"] = {"^_(?!webSocketMessages$)": {}}
ENTRY["properties"]["_webSocketMessages"] = some(MESSAGE)
ENTRY["if"] = {"properties": {"_resourceType": {"const": "websocket"}}, "required": ["_resourceType"]}
ENTRY["then"] = {"required": ["_webSocketMessages"]}
CREATOR = an_object({"name": TEXT, "version": TEXT}, COMMENT)
LOG = an_object(
    {"version": {"const": "1.2"}, "creator": CREATOR, "entries": some(ENTRY)},
    {"browser": CREATOR, "pages": {"type": "array"}, **COMMENT},
)
ARCHIVE = an_object({"log": LOG})

archive = json.load(open(sys.argv[1], encoding="utf-8"))
faults = [f"{error.json_path}: {error.message[:200]}" for error in Draft202012Validator(ARCHIVE).iter_errors(archive)]
for entry in archive["log"]["entries"]:
    parts = entry["timings"]
    known = sum(value for name, value in parts.items() if name not in ("ssl", "comment") and value > 0)
    # Section "timings": the time of an entry is the sum of its parts.
    if abs(known - entry["time"]) > 0.001:
        faults.append(f"{entry['request']['url']}: {entry['time']} ms aren't the sum of {parts}")
print("\n".join(faults) or f"ok: {len(archive['log']['entries'])}")
sys.exit(1 if faults else 0)
