"""The description of the service: ``/openapi.json`` for programs, ``/docs`` for people.

The page loads nothing from other hosts and has no script.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import attrgetter

import orjson
from flask import Blueprint, Response, request

from arclink.reasons import Reason
from arclink.service.memento import service_url
from arclink.service.openapi import EXAMPLES, RESOURCES, Resource, describe
from arclink.service.pages.blocks import rendered
from arclink.service.responses import robots
from arclink.service.schemas import SCHEMAS
from arclink.service.stores import stores_of_app

describing = Blueprint("describing", __name__)


@describing.get("/openapi.json")
def openapi() -> Response:
    """Answer with the OpenAPI document."""
    return Response(
        orjson.dumps(describe(request.script_root), option=orjson.OPT_INDENT_2),
        content_type="application/json",
    )


@describing.get("/robots.txt")
def robots_txt() -> Response:
    """Answer with ``robots.txt``; crawlers of a collection use the one at the root of the host."""
    return Response(robots(request.script_root), content_type="text/plain; charset=utf-8")


@describing.get("/docs")
def docs() -> Response:
    """Answer with the description as a page."""
    described = describe(request.script_root)
    paths = described["paths"]
    assert isinstance(paths, Mapping)
    return rendered(
        "docs",
        resources=[
            (resource, paths[resource.path]["get"], _example(resource)) for resource in RESOURCES
        ],
        schemas=[(name, _rows(schema)) for name, schema in SCHEMAS.items()],
        collection=stores_of_app().settings.collection,
    )


@describing.get("/docs/reasons")
def reasons() -> Response:
    """Answer with what each reason means, as a page."""
    groups = groupby(Reason, attrgetter("group"))
    return rendered(
        "reasons",
        groups=[(group, [*same]) for group, same in groups],
        collection=stores_of_app().settings.collection,
    )


def _example(resource: Resource) -> str:
    """Return an example call of a resource with curl."""
    parameters = [
        f"{parameter.name}={_EXAMPLES[parameter.name]}"
        for parameter in resource.parameters
        if parameter.is_required
    ]
    path = resource.path
    for name in resource.of_path:
        path = path.replace(f"{{{name}}}", EXAMPLES[name])
    query = f"?{'&'.join(parameters)}" if parameters else ""
    return f'curl "{service_url().rstrip("/")}{path}{query}"'


_EXAMPLES = {
    **EXAMPLES,
    "from": "2009",
    "to": "2010",
    "since": "2010",
    "format": "warc",
    "file": "crawl.warc.gz",
    "offset": "0",
    "begins": "example",
    "begin": "http://example.org/",
    "end": "http://example.net/",
}


def _rows(schema: Mapping[str, object]) -> Sequence[tuple[str, str, str, bool]]:
    """Return name, type, meaning and presence (always or not) of each field of an object."""
    properties, required = schema["properties"], schema["required"]
    assert isinstance(properties, Mapping)
    assert isinstance(required, list)
    return [
        (name, _type(of), of.get("description", ""), name in required)
        for name, of in properties.items()
    ]


def _type(schema: Mapping[str, object]) -> str:
    """Return the type that a schema describes, in a few words."""
    match schema:
        case {"$ref": str(name)}:
            return name.rpartition("/")[2]
        case {"anyOf": list(alternatives)}:
            return " or ".join(dict.fromkeys(map(_type, alternatives)))
        case {"enum": list(values)}:
            return ", ".join(map(str, values))
        case {"type": "array", "items": dict(items)}:
            return f"list of {_type(items)}"
        case {"type": "object", "properties": dict(properties)}:
            return f"object: {', '.join(properties)}"
        case {"pattern": "^[0-9]{14}$"}:
            return "14 digits"
        case _:
            return str(schema.get("type", "any"))
