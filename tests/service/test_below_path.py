"""A service whose public address has a path: every address that it gives leads somewhere."""

import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import parse_qsl, urljoin, urlsplit

import pytest
from selectolax.lexbor import LexborHTMLParser

from arclink.errors import UsageError
from arclink.service.application import create_app
from arclink.service.collections import create_collections
from arclink.service.settings import Settings, public_path
from arclink.store.location import open_store
from tests.demos import Demos
from tests.service.running import free_port, serving_store

ROOT = Path(__file__).resolve().parents[2]
PUBLIC = "http://127.0.0.1/arc/"
MOST = 250

Got = tuple[int, dict[str, str], bytes]
Get = Callable[[str], Got]

_LINK = re.compile(r"<([^>]*)>; ?rel=\"?(?!original)")
_IN_TEXT = re.compile(rb"<(http[^>]*/arc[^>]*)>|\"(http[^\"]*/arc[^\"]*)\"")
_ATTRIBUTES = (
    "href",
    "src",
    "action",
    "data-address",
    "data-href",
    "data-src",
    "poster",
    "xlink:href",
)


def addresses_in(got: Got, base: str) -> Iterator[str]:
    """Yield the addresses of the service in an answer: of its headers, page, TimeMap or script."""
    _, headers, body = got
    if "location" in headers:
        yield headers["location"]
    yield from _LINK.findall(headers.get("link", ""))
    media_type = headers.get("content-type", "")
    if "memento-datetime" in headers:
        return  # the body is a page of the archive
    if media_type.startswith("text/html"):
        tree = LexborHTMLParser(body)
        for name in _ATTRIBUTES:
            for node in tree.css(f"[{name.replace(':', chr(92) + ':')}]"):
                yield node.attributes[name] or ""
        for node in tree.css("[data-root]"):
            yield node.attributes["data-root"] or ""
    elif media_type.startswith(
        ("application/link-format", "application/json", "application/openapi")
    ):
        for found in _IN_TEXT.findall(body):
            yield (found[0] or found[1]).decode()
    elif "javascript" in media_type:
        for name in re.findall(rb"(?:from|import) *\(?\"(\./[^\"]*)\"", body):
            yield urljoin(base, name.decode())


def shape(address: str) -> tuple[object, ...]:
    """Return the parts that addresses of one kind share: one of each kind is asked."""
    parts = urlsplit(address)
    query = tuple(
        sorted((k, v if k in ("view", "format") else "") for k, v in parse_qsl(parts.query))
    )
    return re.sub(r"/\d{4,14}(?=[/i])", "/TIME", parts.path.partition("/http")[0]), query


def crawl(get: Get, begin: str, collections: tuple[str, ...]) -> dict[str, int]:
    """Return the status of each address, from a first one on."""
    own = ("robots.txt", "favicon.ico", "docs", "openapi.json")
    waiting = [f"{begin}{path}" for path in (*collections, *own)]
    host = urlsplit(begin).netloc
    shapes: set[tuple[object, ...]] = set()
    seen: dict[str, int] = {}
    while waiting and len(seen) < MOST:
        address = waiting.pop(0).partition("#")[0]
        if address in seen or urlsplit(address).netloc != host:
            continue
        assert urlsplit(address).path.startswith("/arc"), f"{address} is outside of the path"
        if shape(address) in shapes:
            continue
        shapes.add(shape(address))
        got = get(address)
        seen[address] = got[0]
        waiting += [urljoin(address, one) for one in addresses_in(got, address)]
    return seen


@pytest.fixture(scope="module")
def store(demos: Demos, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return demos.copy(tmp_path_factory.mktemp("below"), 60, 4, 1)


@pytest.fixture(scope="module")
def uri(store: Path) -> str:
    with open_store(str(store)) as opened:
        return next(one.original for one in opened.scan_mementos() if one.mime == "text/html")


BEGINNINGS = (
    "", "?uri={uri}", "?uri={uri}&view=links", "?uri={uri}&view=changes", "timegate/{uri}",
    "timemap/link/{uri}", "timemap/json/{uri}", "web/2010/{uri}", "browse/2010/{uri}",
    "browse/?uri={uri}", "select", "linkQuery?uri={uri}&format=json&limit=1",
    "ask/linkers?uri={uri}", "?uri=*.example", "?uri=http://aurora-dialy.example/",
    "?uri=two+words",
)  # fmt: skip


def check(get: Get, begin: str, collections: tuple[str, ...], uri: str) -> None:
    names = tuple(f"{name}{path.format(uri=uri)}" for name in collections for path in BEGINNINGS)
    seen = crawl(get, begin, names)
    odd = {address: status for address, status in seen.items() if status in (400, 404, 500, 502)}
    # A service of collections describes each of them, and not itself.
    assert {one for one in odd if not one.endswith(("/arc/docs", "/arc/openapi.json"))} == set()
    parts = {part for address in seen for part in urlsplit(address).path.split("/")}
    assert parts >= {"static", "web", "timemap", "browse", "ask"}
    assert len(seen) > 40


@pytest.mark.parametrize("leaves_path", [False, True], ids=["path taken away", "path left"])
@pytest.mark.parametrize("collections", [("",), ("one/", "two/")], ids=["one store", "collections"])
def test_every_address_below_a_path_leads_somewhere(
    store: Path, uri: str, collections: tuple[str, ...], leaves_path: bool
) -> None:
    settings = Settings(public=PUBLIC)
    app = (
        create_app(str(store), settings)
        if collections == ("",)
        else create_collections({name[:-1]: str(store) for name in collections}, settings)
    )
    client = app.test_client()

    def get(address: str) -> Got:
        parts = urlsplit(address)
        path = parts.path if leaves_path else parts.path.removeprefix("/arc")
        answer = client.get(
            f"{path or '/'}{parts.query and '?' + parts.query}",
            base_url="http://127.0.0.1/",
            headers={"Accept": "text/html, */*;q=0.1"},
            environ_overrides={"SCRIPT_NAME": "", "REQUEST_URI": path},
        )
        with answer:
            headers = {name.lower(): value for name, value in answer.headers}
            return answer.status_code, headers, answer.data

    check(get, PUBLIC, collections, uri)


@pytest.mark.engine
@pytest.mark.parametrize("target", ["/", ""], ids=["path taken away", "path left"])
def test_behind_nginx_every_address_below_a_path_leads_somewhere(
    store: Path, uri: str, tmp_path: Path, target: str
) -> None:
    assert shutil.which("nginx"), "nginx is not installed: apt install nginx-light"
    port = free_port()
    public = f"http://127.0.0.1:{port}/arc/"
    with ExitStack() as stack:
        service = stack.enter_context(
            serving_store(
                store, tmp_path / "log", "--public", public, "--trusted-proxy", "127.0.0.1"
            )
        )
        temporary = "".join(
            f"{name}_temp_path {tmp_path}/{name};"
            for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (tmp_path / "nginx.conf").write_text(
            f"daemon off; worker_processes 1; pid {tmp_path}/pid; events {{}} "
            f"http {{ {temporary} access_log off; merge_slashes off; "
            f"server {{ listen 127.0.0.1:{port}; location /arc/ {{ proxy_pass "
            f"http://127.0.0.1:{service.port}{target}; proxy_set_header Host $http_host; }} }} }}"
        )
        nginx = subprocess.Popen(
            ["nginx", "-c", f"{tmp_path}/nginx.conf", "-e", f"{tmp_path}/error.log"]
        )
        stack.callback(nginx.wait)
        stack.callback(nginx.terminate)

        def get(address: str) -> Got:
            parts = urlsplit(address)
            connection = HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request(
                "GET",
                f"{parts.path}{parts.query and '?' + parts.query}",
                headers={"Accept": "text/html, */*;q=0.1"},
            )
            response = connection.getresponse()
            headers = {name.lower(): value for name, value in response.getheaders()}
            got = response.status, headers, response.read()
            connection.close()
            return got

        for _ in range(100):
            try:
                if get(f"{public}health")[0] == 200:
                    break
            except OSError:
                pass
            time.sleep(0.1)
        check(get, public, ("",), uri)
        assert get(f"{public}static/arclink.css")[0] == 200


def test_no_template_header_or_script_writes_an_address_from_the_root_by_hand() -> None:
    service = ROOT / "arclink/service"
    by_hand = re.compile(
        r"""(?:href|src|action|data-[a-z]+)=["']?/(?!/)  # in a template or made markup
        |<\{?/[a-z]+/                                     # in a header Link
        |(?:redirect|fetch|fetchPage|import)\(f?["'`]/    # of scripts and redirects
        |url\(["']?/""",  # of styles
        re.VERBOSE,
    )
    ours = [
        *service.rglob("*.html"),
        *service.rglob("*.py"),
        *service.glob("static/*.js"),
        *service.glob("static/*.css"),
    ]
    wrong = {
        f"{path.relative_to(ROOT)}: {found[0]}"
        for path in ours
        if path.parent.parent.name != "replay"  # its origin is its own
        for found in by_hand.finditer(path.read_text(encoding="utf-8"))
    }
    assert len(ours) > 80
    assert wrong == set()


@pytest.mark.parametrize(
    "public",
    ["http://h.example/a b/", "http://h.example/a%20b/", "http://h.example/../x/", "http://h.example/a//b/",
     "http://h.example/<b>/", "http://h.example/é/", "http://h.example/a;b/"],
)  # fmt: skip
def test_a_path_that_is_not_plain_is_refused(public: str) -> None:
    with pytest.raises(UsageError, match="its path may have"):
        public_path(public)


@pytest.mark.parametrize("path", ["web", "ask", "static", "timemap", "one"])
def test_a_path_named_as_a_resource_is_only_what_the_proxy_takes_away(
    store: Path, uri: str, path: str
) -> None:
    settings = Settings(public=f"http://127.0.0.1/{path}/")
    app = (
        create_collections({"one": str(store)}, settings)
        if path == "one"
        else create_app(str(store), settings)
    )
    client = app.test_client()
    below = "/one" if path == "one" else ""
    page = client.get(f"{below}/", base_url="http://127.0.0.1/", headers={"Accept": "text/html"})
    assert page.status_code == 200
    assert f'href="/{path}{below}/static/arclink.css' in page.text
    found = client.get(f"{below}/web/2010id_/{uri}", base_url="http://127.0.0.1/")
    assert found.status_code in (200, 302), found.text
