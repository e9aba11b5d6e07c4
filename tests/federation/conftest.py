"""Fixtures: three services over three archives, and one that was written from the paper alone.

Each service runs in a process of its own.
"""

import http.server
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit
from xml.sax.saxutils import escape

import pytest
from click.testing import CliRunner

from arclink.cli.main import group
from arclink.demo import write_demo_archive
from tests.federation.servers import handling

NAMES = ("autumn", "winter", "spring")
FOREIGN_TIME = "20100217101229"
FOREIGN_TEXT = "Seen by <others> & no other page"


@dataclass(frozen=True)
class Archives:
    """Services over parts of the demo archive.

    Attributes:
        urls: Of each part, by name.
        stores: Of each part, by name; ``whole`` is that of all files together.
        uri: The URI with the most to tell.
    """

    urls: dict[str, str]
    stores: dict[str, Path]
    uri: str

    @property
    def options(self) -> list[str]:
        """The instances as the command line names them."""
        return [word for name, url in self.urls.items() for word in ("--instance", f"{name}={url}")]


@pytest.fixture(scope="session")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archives]:
    folder = tmp_path_factory.mktemp("archives")
    summary = write_demo_archive(folder / "all", 150, 6, 1)
    stores = {name: folder / f"{name}.db" for name in (*NAMES, "whole")}
    for number, file in enumerate(summary.files):
        for name in (NAMES[number % 3], "whole"):
            (folder / name).mkdir(exist_ok=True)
            shutil.copy(folder / "all" / Path(file).name, folder / name)
    for name, store in stores.items():
        built = CliRunner().invoke(
            group,
            ["build", str(folder / name), "--store", str(store), "--quiet", "--runner", "inline"],
        )
        assert built.exit_code == 0, built.output
    with ExitStack() as stack:
        urls = {name: stack.enter_context(Service(stores[name])).url for name in NAMES}
        yield Archives(urls, stores, summary.example_uri)


class Service:
    """``arclink serve`` over one store, in a process."""

    def __init__(self, store: Path) -> None:
        command = [
            sys.executable,
            "-m",
            "arclink.cli.main",
            "serve",
            "--store",
            str(store),
            "--port",
            "0",
        ]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        self.url = "http://127.0.0.1:" + line.split("http://127.0.0.1:")[1].split("/")[0]

    def __enter__(self) -> "Service":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(20) == 0
        assert self.process.stdout is not None
        self.process.stdout.close()


class Foreign(http.server.BaseHTTPRequestHandler):
    """A service written after the paper's Listing 1: it knows one path, the parameter ``uri``, and
    relative names.
    """

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        match parse_qsl(parts.query):
            case [("uri", uri)] if parts.path == "/LinkService/linkQuery":
                self.answer(200, "text/xml", listing(uri))
            case _:
                self.answer(400, "text/plain", "what?")

    def answer(self, status: int, media_type: str, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the library's name
        return


def listing(uri: str) -> str:
    """Return the paper's listing about another URI: two outlinks, one inlink, names relative."""
    subject = escape(uri.removeprefix("http://"))

    def member(about: str, text: str, *times: str) -> str:
        items = "".join(f"<rdf:li>{time}</rdf:li>" for time in times)
        return f"""<rdf:Description rdf:about="{about}"><twg:type>href</twg:type> <twg:text>{escape(text)}</twg:text>
<twg:timestamp> <rdf:Bag> {items} ... </rdf:Bag> </twg:timestamp> </rdf:Description>"""

    return f"""<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
xmlns:twg="http://www.mementoweb.org/TemporalWebGraph/">
<rdf:Description rdf:about="{subject}">
<twg:hasOutlinks rdf:parseType="Collection">{member("example,kalvik2010)/", "Kalvik 2010", FOREIGN_TIME)} . . .
{member("skiing)/", FOREIGN_TEXT, FOREIGN_TIME, "20100227081100")}</twg:hasOutlinks>
<twg:hasInlinks rdf:parseType="Collection">{member("http://blog.example/?tag=x", "opening", FOREIGN_TIME)}</twg:hasInlinks>
</rdf:Description></rdf:RDF>"""


@pytest.fixture(scope="session")
def foreign() -> Iterator[str]:
    with handling(Foreign) as url:
        yield url
