"""The description of the API in OpenAPI 3.1, generated from the routes themselves, so that the two always agree."""

import re
from collections.abc import Sequence

from discreet._core.version import __version__
from discreet.server._guard import Rule
from discreet.server._problems import TITLES
from discreet.server._questions import STATES

Part = dict[str, object]

_EVENT = {"type": "string", "maxLength": 500, "minLength": 1}
_PARAMETERS: dict[str, tuple[Part, str]] = {
    "state": ({"type": "string", "enum": list(STATES)}, "Only questions in this state."),
    "level": (
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        "The probability that an interval contains the truth (credible level).",
    ),
    "event": (_EVENT, "An event such as 'fall=yes'."),
    "by": (_EVENT, "With an event: the column whose levels are the groups."),
    "group": (_EVENT, "Only the rows of this group, such as 'ward=North'."),
    "before": ({"type": "integer", "minimum": 0, "maximum": 10**11 - 1}, "Only lines with lower numbers."),
    "Idempotency-Key": (
        {"type": "string", "pattern": "^[!-~]{1,200}$"},
        "A name of your choice for this question: if your account sends the key again, it means the same question.",
    ),
}
_SCHEMAS: Part = {
    "Problem": {
        "type": "object",
        "required": ["type", "title", "status", "detail"],
        "properties": {
            "type": {"type": "string"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string"},
        },
    },
    "Asked": {
        "type": "object",
        "required": ["question"],
        "additionalProperties": False,
        "properties": {
            "question": {
                "type": "object",
                "description": "The keys of [questions.NAME] in a study file; the label is required.",
                "required": ["label", "epsilon"],
                "properties": {
                    "label": {"type": "string", "minLength": 1, "maxLength": 500},
                    "epsilon": {"type": ["string", "number"]},
                    "delta": {"type": ["string", "number"]},
                    "model": {"type": "string"},
                    "mechanism": {"type": "string"},
                    "columns": {"type": "array", "items": {"type": "string"}},
                    "reading": {"type": "string"},
                },
            },
            "query": {"type": "object", "description": "A query that a fresh draw answers."},
            "reason": {"type": "string", "maxLength": 1000, "description": "For the steward who decides."},
        },
    },
    "Decision": {
        "type": "object",
        "required": ["approve"],
        "additionalProperties": False,
        "properties": {"approve": {"type": "boolean"}, "words": {"type": "string", "maxLength": 1000}},
    },
    "Release": {"type": "object", "description": "The document of a release."},
}
_REFUSED = (400, 401, 403, 404, 405, 409, 413, 415, 422, 429, 500, 503)


def openapi(rules: Sequence[Rule]) -> Part:
    """Return the OpenAPI document."""
    paths: dict[str, Part] = {}
    for rule in rules:
        paths.setdefault(rule.path, {})[rule.method.lower()] = _operation(rule)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "discreet",
            "version": __version__,
            "description": "Ask, wait, receive: questions about records under differential privacy. All readers are "
            "assumed to share what they learn.",
        },
        "paths": paths,
        "components": {
            "schemas": _SCHEMAS,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(rule: Rule) -> Part:
    content = "text/csv" if rule.path.endswith("/table") else "application/json"
    shape: Part = {"type": "string"} if content == "text/csv" else {"type": "object"}
    responses: Part = {
        str(status): {"description": "Done.", "content": {content: {"schema": shape}}} for status in rule.gives
    }
    problem = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    responses |= {str(status): {"description": TITLES[status], "content": problem} for status in _REFUSED}
    in_path = re.findall(r"{(\w+)}", rule.path)
    parameters: list[Part] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in in_path
    ]
    for where, _, name in (each.partition(":") for each in rule.parameters):
        schema, words = _PARAMETERS[name]
        parameters.append({"name": name, "in": where, "required": False, "schema": schema, "description": words})
    body: Part = {}
    if rule.body is not None:
        schema = {"$ref": f"#/components/schemas/{rule.body}"}
        body = {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}
    needs = {"security": [{"token": []}], "description": f"Needs a token with the scope `{rule.right}`."}
    return {
        "summary": rule.words,
        "operationId": f"{rule.method} {rule.path}",
        "parameters": parameters,
        "responses": responses,
        **body,
        **(needs if rule.right is not None else {"security": []}),
    }
