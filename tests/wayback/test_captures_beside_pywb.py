"""Every capture of real archives, from ArcLink and from a real pywb: status, headers, bytes.

Both must be equal, or the reason of the difference is in `DIFFERENCES`. pywb never answers 200 for
all captures of a crawl: an archived 404 or redirect keeps its own status, and some captures have no
address.
"""

import hashlib
import http.client
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urljoin, urlsplit

import pytest
from flask.testing import FlaskClient

from arclink.model import Memento
from arclink.pipeline.settings import BuildSettings
from arclink.service.application import create_app
from arclink.store.location import open_store
from arclink.uris.surts import method_of_key, surt_of
from benchmarks.built_stores import build_store
from benchmarks.peers.pywb_server import PYWB, serving_pywb

pytestmark = pytest.mark.engine

NOT_ADDED = {"example-bad.warc.gz.bad", "bad.arc"}
"""pywb's own samples of files that it refuses."""

PREFIX = "x-archive-orig-"
CODINGS = "gzip, deflate, br, zstd"
OF_SERVERS = frozenset(
    {
        "connection",
        "content-location",
        "content-security-policy",
        "date",
        "link",
        "memento-datetime",
        "server",
        "transfer-encoding",
    }
)
"""Headers that pywb sets itself, in addition to the archived ones of these names."""

EQUAL = "equal"
NO_PATH = "pywb redirects a URI without a path to one with a slash"
TO_ITSELF = "pywb passes over redirects to another spelling of the same URI"
POST = "pywb keys captures of POST requests with their data, so a URI and a time do not find them"
RESOURCE = "a record without HTTP has no archived headers; pywb makes some"
DIFFERENCES = (NO_PATH, TO_ITSELF, POST, RESOURCE)

EXPECTED: Mapping[str, Mapping[str, int]] = {
    "aut": {EQUAL: 260, TO_ITSELF: 1},
    "arc": {EQUAL: 260, TO_ITSELF: 1},
    # One URI without a path has an answer to GET and one to another method in one second.
    "pywb": {EQUAL: 187, NO_PATH: 8, TO_ITSELF: 2, POST: 2, RESOURCE: 1},
    "flink": {EQUAL: 3647},
}


@dataclass(frozen=True)
class Answer:
    """What a server answers.

    Attributes:
        headers: Values by name in lower case.
        archived: Those of archived headers, without their prefix.
        digest: SHA-256 of the body.
    """

    status: int
    headers: Mapping[str, Sequence[str]]
    archived: Mapping[str, Sequence[str]]
    digest: str


def answer_of(status: int, headers: Sequence[tuple[str, str]], body: bytes) -> Answer:
    named: dict[str, list[str]] = {}
    archived: dict[str, list[str]] = {}
    for name, value in headers:
        lower = name.lower()
        (archived if lower.startswith(PREFIX) else named).setdefault(
            lower.removeprefix(PREFIX), []
        ).append(value)
    return Answer(status, named, archived, hashlib.sha256(body).hexdigest())


def files_of(shared_data: Path) -> dict[str, list[Path]]:
    warcs = (shared_data / "pywb/warcs").iterdir()
    return {
        "aut": [shared_data / "aut/example.warc.gz"],
        "arc": [shared_data / "aut/example.arc.gz"],
        "pywb": sorted(path for path in warcs if path.name not in NOT_ADDED),
        "flink": sorted(shared_data.glob("flink_web/*20??.warc.gz")),
    }


@pytest.fixture(scope="module")
def pywb(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if not (PYWB / "wayback").exists():
        text = f"no pywb in {PYWB}: run `make test-wayback`"
        if os.environ.get("CI"):
            pytest.fail(text)
        pytest.skip(text)
    with serving_pywb(tmp_path_factory.mktemp("pywb"), files_of(shared_data)) as (address, _):
        yield address


def asked_of_pywb(connection: http.client.HTTPConnection, name: str, memento: Memento) -> Answer:
    written = quote(memento.original, safe="%/:=&?~#+!$,;@()*[]|")
    target = f"/{name}/{memento.timestamp}id_/{written}"
    connection.request("GET", target, headers={"Accept-Encoding": CODINGS})
    response = connection.getresponse()
    return answer_of(response.status, response.getheaders(), response.read())


def asked_of_us(client: FlaskClient, memento: Memento) -> Answer:
    method = method_of_key(memento.surt)
    uri = f"{method}%20{memento.original}" if method else memento.original
    response = client.get(
        f"/web/{memento.timestamp}id_/{uri}", headers={"Accept-Encoding": CODINGS}
    )
    return answer_of(response.status_code, list(response.headers), response.get_data())


def compared(memento: Memento, ours: Answer, theirs: Answer) -> str:
    """Return whether two answers are equal, or why they are not."""
    location = "".join(theirs.headers.get("location", []))
    if theirs.status == 307 and not urlsplit(memento.original).path:
        return NO_PATH
    target = urljoin(memento.original, "".join(ours.archived.get("location", [])))
    if 300 <= ours.status < 400 and surt_of(target) == memento.surt:
        is_other = theirs.status != ours.status and (theirs.status == 200 or "id_/" in location)
        return TO_ITSELF if is_other else "?"
    if ours.status != theirs.status:
        return f"status {ours.status}, pywb {theirs.status}"
    if ours.digest != theirs.digest:
        # The body of another request to the same URI, without a redirect to its time.
        return POST if "/post" in memento.original else "body"
    if memento.record_type == "resource":
        return RESOURCE
    for name in (
        ours.archived.keys() | (theirs.headers.keys() - OF_SERVERS) | theirs.archived.keys()
    ):
        values = [*theirs.headers.get(name, []), *theirs.archived.get(name, [])]
        missing = set(ours.archived.get(name, [])) - set(values)
        if missing or (name not in ours.archived and any(values)):
            return f"header {name}"
    return EQUAL


@pytest.mark.parametrize("name", EXPECTED)
def test_every_capture_is_the_same_in_pywb(
    pywb: str, shared_data: Path, tmp_path: Path, name: str
) -> None:
    store_path = tmp_path / "links.db"
    files = [str(path) for path in files_of(shared_data)[name]]
    build_store(tmp_path, store_path, BuildSettings(cores=2), inputs=files)
    client = create_app(str(store_path)).test_client()
    counts: Counter[str] = Counter()
    statuses: Counter[int] = Counter()
    with (
        closing(http.client.HTTPConnection(urlsplit(pywb).netloc, timeout=120)) as connection,
        open_store(str(store_path)) as store,
    ):
        for memento in store.scan_mementos():
            if not memento.original.startswith("http"):
                continue  # pywb takes it for a host
            theirs = asked_of_pywb(connection, name, memento)
            statuses[theirs.status] += 1
            counts[compared(memento, asked_of_us(client, memento), theirs)] += 1
    print(name, dict(counts), dict(statuses))
    assert counts == EXPECTED[name]
