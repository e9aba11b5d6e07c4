"""The Model Context Protocol over standard input and output, by its own library.

While it runs, the library leads what else is written to standard output to standard error: nothing
but the protocol is read by the client.
"""

import logging
import threading
from functools import partial
from typing import Final

import anyio
import orjson
from anyio.to_thread import run_sync
from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from arclink.service.agents.tools import INSTRUCTIONS, ToolAnswer, Tools
from arclink.version import VERSION

_AT_ONCE: Final = 4
"""Number of calls that are answered at the same time; others wait."""

_log = logging.getLogger("arclink.service")


def server_of(tools: Tools) -> Server:
    """Return the server of some tools, which speaks to one client."""
    limiter = anyio.CapacityLimiter(_AT_ONCE)

    async def list_tools(
        _: ServerRequestContext, __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        only_reads = types.ToolAnnotations(
            read_only_hint=True, idempotent_hint=True, open_world_hint=False
        )
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.name,
                    description=tool.about,
                    input_schema=dict(tool.schema),
                    annotations=only_reads,
                )
                for tool in tools.by_name.values()
            ]
        )

    async def call_tool(
        _: ServerRequestContext, asked: types.CallToolRequestParams
    ) -> types.CallToolResult:
        has_left = threading.Event()
        call = partial(_answer, tools, asked.name, asked.arguments or {}, has_left)
        try:
            return await run_sync(call, abandon_on_cancel=True, limiter=limiter)
        finally:
            has_left.set()

    return Server(
        "arclink",
        version=VERSION,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _answer(
    tools: Tools, name: str, arguments: dict[str, object], has_left: threading.Event
) -> types.CallToolResult:
    try:
        answer = tools.call(name, arguments, has_left.is_set)
    except Exception:  # the edge: a client gets no traceback, and goes on
        _log.exception("a call of the tool %r failed", name)
        answer = ToolAnswer("The call failed; the log of this program says why.", True)
    if answer.is_error:
        return types.CallToolResult(content=[_text(str(answer.content))], is_error=True)
    text = orjson.dumps(answer.content).decode()
    return types.CallToolResult(content=[_text(text)], structured_content=answer.content)


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


def serve_agent(tools: Tools) -> None:
    """Answer a client at standard input and output until it closes standard input."""

    async def run() -> None:
        server = server_of(tools)
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(run)
