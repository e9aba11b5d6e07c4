"""The order of the rooms: a module imports only from its own room and from rooms above it in this
list. The folders of the project have such an order, too.

Imports inside functions count, and so do names of modules in strings that are handed to the import
machinery. Imports for types only count as well: a reader follows them too.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

from arclink import rooms
from arclink.access.capabilities import Capability
from arclink.rooms import taken
from tests.sources import FOLDERS, ROOT, files_below, names_imported, trees

CORE = (
    "words of the field",
    "native",
    "files",
    "network",
    "uris",
    "archives",
    "rows",
    "filter",
    "extract",
    "graph",
    "store",
    "access",
    "mapreduce",
    "jobs",
    "pipeline",
)
"""The rooms of the core, from shared words to a build. None of them imports what comes after."""

BESIDE = (
    "analysis.charts",
    "captures.subsets",
    "analysis.relations",
    "others.federation",
    "analysis.matrices",
    "analysis.questions",
    "analysis.export",
    "captures",
    "engines",
    "others.wayback",
    "demo",
)
"""The rooms next to the core. What the core takes from them is in `arclink.rooms`."""

DOORS = ("linkgraph", "operations", "service", "cli", "__main__")
"""What people and programs use; it may import everything before it."""

ROOMS = (*CORE, *BESIDE, *DOORS)
"""All rooms, from shared words to user interfaces. `ARCHITECTURE.md` describes each."""

JOBS_OF_ROOMS = {
    "arclink.jobs.load_graph": "engines",
    "arclink.jobs.map_pages": "captures",
    "arclink.jobs.rank_pages": "analysis.matrices",
    "arclink.jobs.write_tables": "captures",
}
"""Jobs that belong to a room after the core; the folder has all jobs that mrjob can start."""

CORE_PACKAGES = {
    *("ada_url", "apsw", "brotli", "chardet", "isal", "lz4", "mrjob", "numpy", "orjson", "re2"),
    *("rich", "selectolax", "simhash", "surt", "urllib3", "webencodings", "zstandard"),
}
"""The third-party packages that the core needs; it works in an environment with these alone."""

ON_REQUEST = {"aiohttp", "cython", "fsspec", "pyarrow"}
"""Packages that the core imports only for remote files and Parquet, or not at all."""

REMOTE = {"arclink.network.drivers"}
"""What reads files of other machines by fsspec; modules that import it need these packages, too."""

PACKAGES_OF_ROOMS = {
    "mrjob": {"mapreduce", "jobs", "engines", "analysis.matrices"},
    "pyspark": {"engines"},
    "flask": {"service"},
    "werkzeug": {"service"},
    "waitress": {"service"},
    "mcp": {"service"},
    "click": {"cli"},
    "cassandra": {"engines"},
    "warcio": {"captures"},
    "urllib3": {"network"},
    "aiohttp": {"network"},
}
"""Third-party packages that only some rooms may import."""


@cache
def modules() -> Mapping[str, Path]:
    """Return the modules of the package by name."""
    found = {}
    for path in trees("arclink"):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    return found


PACKAGES = {"arclink", "arclink.analysis", "arclink.others"}
"""Packages that only hold rooms."""


class Contents(NamedTuple):
    """What is tested of a module's code.

    Attributes:
        imported: Every dotted name that it imports.
        texts: Its texts other than docstrings.
        public_classes: Names of its classes.
    """

    imported: frozenset[str]
    texts: frozenset[str]
    public_classes: tuple[str, ...]


def contents_of(tree: ast.Module) -> Contents:
    """Return the facts about a module's code that the tests check."""
    nodes = list(ast.walk(tree))
    documents = {
        id(node.value)
        for node in nodes
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    texts = frozenset(
        node.value
        for node in nodes
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in documents
    )
    public_classes = tuple(
        node.name
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    return Contents(frozenset(names_imported(tree)), texts, public_classes)


@cache
def contents() -> Mapping[str, Contents]:
    """Return these facts for each module, by its name."""
    return {module: contents_of(trees("arclink")[path]) for module, path in modules().items()}


def module_of(name: str) -> str:
    """Return the module of ours that a dotted name leads to; empty if it leads elsewhere.

    >>> module_of("arclink.model.Memento")
    'arclink.model'
    """
    while name and name not in modules():
        name = name.rpartition(".")[0]
    return name


@cache
def imports() -> Mapping[str, frozenset[str]]:
    """Return the modules of ours that each module imports, itself excepted."""
    return {
        module: frozenset(
            target
            for name in of_module.imported
            if (target := module_of(name)) and target != module
        )
        for module, of_module in contents().items()
    }


def room_of(module: str) -> str:
    """Return the room that a module is in.

    >>> room_of("arclink.rows.cdx"), room_of("arclink.timestamps")
    ('rows', 'words of the field')
    """
    if module in JOBS_OF_ROOMS:
        return JOBS_OF_ROOMS[module]
    if module in PACKAGES:
        return "package"
    path = module.split(".")[1:]
    named = (".".join(path[:length]) for length in range(len(path), 0, -1))
    return next((name for name in named if name in ROOMS), "words of the field")


def upward(imported: Mapping[str, frozenset[str]]) -> list[str]:
    """Return the imports that lead from a room to one further down the list."""
    return [
        f"{module} imports {target}"
        for module, targets in imported.items()
        for target in sorted(targets)
        if "package" not in (room_of(module), room_of(target))
        and ROOMS.index(room_of(target)) > ROOMS.index(room_of(module))
    ]


def test_no_import_goes_back_up() -> None:
    assert upward(imports()) == []


def test_an_upward_import_is_seen() -> None:
    code = "def late():\n    from arclink.cli import main"
    found = frozenset(map(module_of, names_imported(ast.parse(code))))
    assert upward({"arclink.store.location": found}) == [
        "arclink.store.location imports arclink.cli.main"
    ]
    named = ast.parse("from importlib import import_module\nimport_module('arclink.jobs')")
    assert "arclink.jobs" in names_imported(named)


def to_later_folders(folder: str, tree: ast.Module) -> list[str]:
    """Return the names that code in a folder imports from folders after it."""
    later = FOLDERS[FOLDERS.index(folder) + 1 :]
    return [name for name in names_imported(tree) if name.partition(".")[0] in later]


def test_no_folder_imports_from_a_later_one() -> None:
    """Benchmarks use the package, and tests use both. Engines are started by scripts alone."""
    found = [
        f"{path.relative_to(ROOT)} imports {name}"
        for folder in FOLDERS
        for path, tree in trees(folder).items()
        for name in to_later_folders(folder, tree)
    ]
    assert found == []
    assert not list((ROOT / "engines").rglob("*.py"))


def test_an_import_from_a_later_folder_is_seen() -> None:
    tree = ast.parse("def late():\n    from tests.demos import Demos\n    import arclink.model")
    assert to_later_folders("benchmarks", tree) == ["tests.demos.Demos"]
    assert to_later_folders("tests", tree) == []


def test_no_modules_import_each_other() -> None:
    graph = {module: targets - {"arclink"} for module, targets in imports().items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_only_the_tables_of_rooms_name_modules_in_strings() -> None:
    """Modules that are named in strings are loaded unseen: only `arclink.rooms` does so, and the
    command line, which is last.
    """
    found = {
        module
        for module, of_module in contents().items()
        for text in {text.partition(":")[0] for text in of_module.texts} & modules().keys()
        if text.count(".") > 0 and ROOMS.index(room_of(text)) > ROOMS.index(room_of(module))
    }
    assert found == {"arclink.rooms"}


@pytest.mark.parametrize(
    "table",
    [
        *("CAPABILITIES", "STORES", "FILES", "READERS", "RUNNERS", "JOBS"),
        *("DERIVED", "DERIVED_AT_ADDRESSES"),
    ],
)
def test_a_table_names_what_exists(table: str) -> None:
    rows = getattr(rooms, table)
    for row in rows.values() if isinstance(rows, Mapping) else [rows]:
        found = taken(row)
        assert isinstance(found, Capability) if table == "CAPABILITIES" else callable(found)


def test_a_module_that_is_named_in_a_string_is_seen() -> None:
    code = '"""arclink.rows"""\nROOM = "arclink.cli"\ndef call():\n    """arclink.jobs"""\n'
    assert contents_of(ast.parse(code)).texts == {"arclink.cli"}


def test_what_both_stores_share_knows_neither() -> None:
    assert not [
        module
        for module, targets in imports().items()
        if module.startswith("arclink.store.blocks")
        and any(target.startswith("arclink.store.sqlite") for target in targets)
    ]


def sections_of_rooms() -> Mapping[str, str]:
    """Return the text of `ARCHITECTURE.md` about each room, in the order of the page."""
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    sections = re.findall(r"^## arclink/(\w+)/\n(.*?)(?=^## )", text, re.MULTILINE | re.DOTALL)
    return dict(sections)


def test_the_page_of_the_architecture_has_the_rooms_in_their_order() -> None:
    tops = dict.fromkeys(room.partition(".")[0] for room in ROOMS)
    folders = [room for room in tops if (ROOT / "arclink" / room).is_dir()]
    assert sorted(sections_of_rooms()) == sorted(folders)
    core = [room for room in sections_of_rooms() if room in CORE]
    assert core == [room for room in folders if room in CORE]
    for room in (*BESIDE, *DOORS):
        top, _, folder = room.partition(".")
        assert not folder or f"`{folder}/`" in sections_of_rooms()[top], room


@pytest.mark.parametrize("room", sections_of_rooms())
def test_the_page_of_the_architecture_names_files_that_exist_in(room: str) -> None:
    """A file is in its room or a folder of it, or is named with its own room."""
    for name in re.findall(r"`([\w/]+\.pyx?)`", sections_of_rooms()[room]):
        folder = ROOT / "arclink" / room
        assert (ROOT / "arclink" / name).is_file() or files_below(folder, name), name


@pytest.mark.parametrize("package", PACKAGES_OF_ROOMS)
def test_is_imported_by_its_rooms_only(package: str) -> None:
    rooms = {
        room_of(module)
        for module, of_module in contents().items()
        if package in {name.partition(".")[0] for name in of_module.imported}
    }
    assert rooms <= PACKAGES_OF_ROOMS[package]
    assert rooms


def test_no_two_public_classes_share_a_name() -> None:
    found_in: dict[str, list[str]] = {}
    for module, of_module in contents().items():
        for name in of_module.public_classes:
            found_in.setdefault(name, []).append(module)
    assert {name: found for name, found in found_in.items() if len(found) > 1} == {}


def packages_of(*rooms_of: str) -> set[str]:
    """Return the third-party packages that the modules of rooms import."""
    return {
        package
        for module, of_module in contents().items()
        if room_of(module) in rooms_of
        for package in {name.partition(".")[0] for name in of_module.imported}
        if package not in {*sys.stdlib_module_names, "arclink"}
    }


def test_the_core_needs_these_packages_only() -> None:
    assert packages_of(*CORE) == CORE_PACKAGES | ON_REQUEST


ALONE = """
import sys
from importlib import import_module

modules, refused, archive, where = map(str.split, sys.argv[1:])
for name in refused:
    sys.modules[name] = None
for module in modules:
    import_module(module)

from arclink.access.answers import answer_link_query
from arclink.access.queries import LinkQuery
from arclink.files.atomic import write_whole
from arclink.pipeline.build import build
from arclink.pipeline.inputs import describe, find_archives
from arclink.pipeline.settings import BuildSettings, ShownProgress
from arclink.progress import Silent
from arclink.store.location import open_store
from pathlib import Path

work = Path(where[0] + ".build")
with open_store(where[0], create=True) as store:
    files = describe(find_archives(archive), {}, {})
    build(files, [], store, BuildSettings(runner="inline"), work, ShownProgress(Silent()))
with open_store(where[0]) as store:
    for link in answer_link_query(store, LinkQuery("http://a.example/two")).inlinks:
        print(link.uri, link.text)
"""

PAGE = b"<title>One</title><a href=two>the second page</a>"
HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%b"
RECORD = (
    b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\n"
    b"WARC-Target-URI: http://a.example/one\r\nWARC-Date: 2010-02-12T20:00:00Z\r\n"
    b"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n"
)


def test_the_core_builds_and_answers_alone(tmp_path: Path) -> None:
    """No room after the core can be imported, and no package but those of the core."""
    response = HTTP % (len(PAGE), PAGE)
    archive = tmp_path / "one.warc"
    archive.write_bytes(RECORD % (len(response), response))
    of_core = [
        module
        for module, targets in imports().items()
        if room_of(module) in CORE and not REMOTE & {module, *targets} and ".native" not in module
    ]
    later = {m for m in modules() if room_of(m) not in (*CORE, "package")}
    refused = (packages_of(*BESIDE, *DOORS) - CORE_PACKAGES) | later | ON_REQUEST
    done = subprocess.run(
        [
            *(sys.executable, "-c", ALONE, " ".join(of_core), " ".join(refused)),
            *(str(archive), str(tmp_path / "links.db")),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "http://a.example/one the second page\n"), (
        done.stderr
    )
