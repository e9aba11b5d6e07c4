"""Rules for the whole repository: documents agree with the code, and files name no foreign hosts.

For example, options, reasons and dependencies in the documents are those of the code, links lead to
headings, and calls of commands are valid.
"""

import ast
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from configparser import ConfigParser
from functools import cache
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from arclink.cli.main import group
from arclink.reasons import Reason
from arclink.version import VERSION
from tests.sources import ROOT, names_imported, trees

PACKAGES = ("arclink",)
LARGEST_FILE = 300_000
VENDORED = {"wabac.js.br"}

# Tools are run, not imported; BeautifulSoup is told the name of its parser.
RUN_NOT_IMPORTED = {"codespell", "html5lib", "ipykernel", "mypy", "pytest-xdist", "ruff"}
MODULE_OF = {"beautifulsoup4": "bs4", "cassandra-driver": "cassandra", "google-re2": "re2"}


@cache
def project_files() -> tuple[Path, ...]:
    """Return the files of the project: those git would commit, or in a copy without git all that
    are not made.
    """
    try:
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
            cwd=ROOT,
            capture_output=True,
            check=True,
            text=True,
        ).stdout.split("\0")
        paths = [ROOT / name for name in listed if name]
    except (OSError, subprocess.CalledProcessError):
        made = re.compile(
            r"\.venv.*|\.engines|__pycache__|\.git|\..*_cache|\.hypothesis|build|demo|.*\.egg-info|.*\.db.*"
        )
        paths = [
            path
            for path in ROOT.rglob("*")
            if not any(made.fullmatch(part) for part in path.relative_to(ROOT).parts)
            or "arclink/demo/" in path.as_posix()
        ]
    return tuple(path for path in paths if path.is_file() and "__pycache__" not in path.parts)


def text_of(name: str) -> str:
    """Return the text of a project file; fail if it is missing."""
    path = ROOT / name
    assert path.is_file(), f"{name} is missing"
    return path.read_text("utf-8")


CONTEXT = click.Context(group)
COMMANDS = group.list_commands(CONTEXT)


def command_called(name: str) -> click.Command:
    """Return the command with this name; fail if it does not exist."""
    command = group.get_command(CONTEXT, name)
    assert command, f"there is no command {name!r}"
    return command


# Nothing foreign


FOREIGN = {
    "a path of one machine": re.compile(
        r"(?<![\w.~/%-])/(?:work|root|home/[a-z_][\w-]*|Users/\w+)(?=/[\w.])"
    ),
    "a package registry": re.compile(
        r"(?:files\.python"
        + r"hosted|(?<!docs\.)py"
        + r"pi|npm"
        + r"js|repo1\.maven)\.org"  # in two, or this file names them
        r"|--(?:extra-)?index-" + r"url|--find" + r"-links",
        re.IGNORECASE,
    ),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_no_file_names(what: str) -> None:
    """No file contains what is true of one machine only."""
    found = []
    for path in project_files():
        for number, line in enumerate(path.read_text("utf-8", errors="replace").splitlines(), 1):
            if FOREIGN[what].search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert found == []


@pytest.mark.parametrize(
    ("line", "what"),
    [
        pytest.param("see /" + "root/.pyenv", "a path of one machine", id="home of root"),
        pytest.param('"/' + 'home/jane/archive"', "a path of one machine", id="home of jane"),
        pytest.param("https://py" + "pi.org/simple", "a package registry", id="index"),
    ],
)
def test_foreign_locations_are_recognized(line: str, what: str) -> None:
    assert FOREIGN[what].search(line)


def test_no_file_is_large() -> None:
    """Data does not belong into the repository; locks are as large as what they lock."""
    files = [
        path
        for path in project_files()
        if path.parent != ROOT / "requirements" and path.name not in VENDORED
    ]
    assert [
        (str(path.relative_to(ROOT)), path.stat().st_size)
        for path in files
        if path.stat().st_size > LARGEST_FILE
    ] == []


# Docs and code name the same things


def section_of(name: str) -> str:
    """Return the section about a command."""
    match = re.search(
        rf"^## arclink {re.escape(name)}\n(.*?)(?=^##)",
        text_of("docs/reference/commands.md"),
        re.MULTILINE | re.DOTALL,
    )
    assert match, f"docs/reference/commands.md has no section '## arclink {name}'"
    return match[1]


def commands_of(group: click.Group) -> list[click.Command]:
    """Return the commands of a group."""
    found = [group.get_command(CONTEXT, name) for name in group.list_commands(CONTEXT)]
    return [command for command in found if command]


def options_of(command: click.Command) -> set[str]:
    """Return the long names of a command's options; of a group, those of all its commands."""
    if isinstance(command, click.Group):
        return {option for one in commands_of(command) for option in options_of(one)}
    return {
        name
        for option in command.params
        if isinstance(option, click.Option)
        for name in (*option.opts, *option.secondary_opts)
    }


def test_every_command_is_in_the_table_of_commands() -> None:
    table = text_of("docs/reference/commands.md").partition("\n## ")[0]
    assert set(re.findall(r"\(#arclink-([a-z-]+)\)", table)) == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_options_are_documented_of(name: str) -> None:
    """The options in the section of a command are exactly the options of the command."""
    documented = set(re.findall(r"`(--[a-z-]+)", section_of(name)))
    assert documented == options_of(command_called(name))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_is_for(name: str) -> None:
    """Help is complete: the command and each of its options has a text."""
    command = command_called(name)
    for one in [command, *(commands_of(command) if isinstance(command, click.Group) else [])]:
        assert one.help
        assert [
            option.name
            for option in one.params
            if isinstance(option, click.Option) and not option.help
        ] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_help_ends_with_examples(name: str) -> None:
    """Examples are lines to copy; `test_a_call_in_the_docs_is_one_the_command_line_takes` parses
    them.
    """
    command = command_called(name)
    for one in commands_of(command) if isinstance(command, click.Group) else [command]:
        assert "Examples:" in (one.epilog or "")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_breaks_no_line_at_a_hyphen(name: str) -> None:
    """Options and the paths of documents can be copied from the help."""
    command = command_called(name)
    commands = commands_of(command) if isinstance(command, click.Group) else []
    for words in [[name], *([name, str(one.name)] for one in commands)]:
        shown = CliRunner().invoke(group, [*words, "--help"], terminal_width=80).output
        assert [line for line in shown.splitlines() if re.search(r"\w-$", line)] == []


def calls_in_docs() -> Iterator[tuple[str, str]]:
    """Yield (file, call) for every ``arclink …`` call in a code block of the docs, in the Makefile
    or in help.
    """
    for command in map(command_called, COMMANDS):
        for one in [command, *(commands_of(command) if isinstance(command, click.Group) else [])]:
            for line in re.findall(r"^  (arclink .*)$", one.epilog or "", re.MULTILINE):
                yield f"help of {command.name}", line
    for path in project_files():
        if path.suffix == ".md":
            for block in re.findall(
                r"^```(?:console|sh|bash)?\n(.*?)^```",
                path.read_text("utf-8"),
                re.MULTILINE | re.DOTALL,
            ):
                for line in re.findall(r"^(?:\$ )?(arclink [a-z-]+ .*)$", block, re.MULTILINE):
                    yield str(path.relative_to(ROOT)), line
    makefile = text_of("Makefile").replace("$(DEMO_URI)", "example.org").replace("$(DEMO)", "demo")
    for line in re.findall(r"\$\(BIN\)/(arclink [a-z][a-z-]+(?: [^\s'(]+)*)", makefile):
        yield "Makefile", line


@pytest.mark.parametrize(("file", "call"), sorted(set(calls_in_docs())))
def test_a_call_in_the_docs_is_one_the_command_line_takes(
    file: str, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line that is copied from the docs is not a usage error."""
    if file == "docs/tutorial.md":  # which has its readers set it
        monkeypatch.setenv("ARCLINK_STORE", "links.db")
    name, *arguments = [
        word for word in shlex.split(call.partition(" >")[0], comments=True)[1:] if word != "\\"
    ]
    assert name in COMMANDS, f"{file}: there is no command {name!r}"
    command = command_called(name)
    if isinstance(command, click.Group) and arguments and not arguments[0].startswith("-"):
        name, *arguments = arguments
        one = command.get_command(CONTEXT, name)
        assert one, f"{file}: there is no command {name!r} in {call!r}"
        command = one
    with command.make_context(name, arguments):
        pass


def test_every_reason_is_documented_in_its_words() -> None:
    """docs/reference/reasons.md has the reasons of each group, in the enum's order and words, each
    with a sentence.
    """
    found: list[tuple[str, str, str]] = []
    chapter = ""
    for line in text_of("docs/reference/reasons.md").splitlines():
        if line.startswith("## "):
            chapter = line.removeprefix("## ")
        elif row := re.fullmatch(r"\| `(\w+)` \| (.+?) \| (.+) \|", line):
            found.append((chapter, row[1], row[2]))
            assert re.fullmatch(r"[A-Z].{15,}\.", row[3]), f"{row[1]}: no sentence: {row[3]!r}"
    assert sorted(found) == sorted((reason.group, reason.name, reason.text) for reason in Reason)
    for chapter in {reason.group for reason in Reason}:
        in_order = [reason.name for reason in Reason if reason.group == chapter]
        assert [name for group_name, name, _ in found if group_name == chapter] == in_order


def test_a_page_of_docs_that_is_named_exists() -> None:
    """Docstrings, help texts, messages and scripts name pages of docs/ that exist."""
    named = re.compile(r"(?<![\w/.-])docs/[\w/-]+\.(?:md|ipynb)")
    missing = [
        f"{path.relative_to(ROOT)}: {page}"
        for path in project_files()
        for page in sorted(set(named.findall(path.read_text("utf-8", errors="replace"))))
        if not (ROOT / page).exists()
    ]
    assert missing == []


def anchors_of(text: str) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub makes them from their words."""
    without_code = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", without_code, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(path: Path) -> list[str]:
    """Return the relative links of a page whose file or heading does not exist."""
    broken = []
    for link in re.findall(r"\]\((?!\w+:)([^)\s]+)\)", path.read_text("utf-8")):
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        if not target.exists() or (anchor and anchor not in anchors_of(target.read_text("utf-8"))):
            broken.append(link)
    return broken


PAGES = [path for path in project_files() if path.suffix in {".md", ".ipynb"}]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_of_a_page_lead_to_files_and_headings(path: Path) -> None:
    assert broken_links(path) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One page\n[a](#one-page) [b](#two) [c](page.md#one-page) [d](page.md#no) [e](gone.md)\n",
        "utf-8",
    )
    assert broken_links(page) == ["#two", "page.md#no", "gone.md"]


def test_the_index_names_every_page() -> None:
    """Decisions are listed by their folder."""
    index = ROOT / "docs/index.md"
    linked = {
        (index.parent / link).resolve()
        for link in re.findall(r"\]\((?!\w+:)([^)#\s]+)", index.read_text("utf-8"))
    }
    pages = {page for page in PAGES if (ROOT / "docs") in page.parents}
    decisions = {page for page in pages if page.parent.name == "decisions"}
    assert pages - decisions - linked == {index}


@pytest.mark.parametrize(
    "path",
    [path for path in PAGES if path.parent.name in {"explanation", "how-to", "reference"}],
    ids=lambda path: path.stem,
)
def test_a_page_says_for_whom_it_is(path: Path) -> None:
    if path.suffix == ".md":
        first = path.read_text("utf-8").split("\n\n")[1]
        assert first.startswith("This page is for ")


def test_the_readme_is_short() -> None:
    assert 500 <= len(text_of("README.md").split()) <= 700


def test_every_test_that_holds_a_promise_exists() -> None:
    """docs/explanation/promises.md names real tests, one for each promise."""
    text = text_of("docs/explanation/promises.md").partition("## Compared with other programs")[0]
    rows = [
        line.split(" | ")
        for line in text.splitlines()
        if line.startswith("| ") and not line.startswith(("| ---", "| promise"))
    ]
    assert len(rows) > 15
    for promise, *_, tests in rows:
        named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", tests)
        assert named, f"no test holds: {promise}"
        for file, name in named:
            functions = {
                node.name
                for node in ast.walk(trees("tests")[ROOT / file])
                if isinstance(node, ast.FunctionDef)
            }
            assert name in functions, f"{file} has no {name}"


def test_changelog_has_a_place_for_what_is_not_released() -> None:
    assert re.search(r"^## \[?Unreleased\]?$", text_of("CHANGELOG.md"), re.MULTILINE)


def test_the_demo_asks_about_the_page_with_the_most_to_tell(tmp_path: Path) -> None:
    """The Makefile's URI is the one that the demo archive names."""
    from arclink.demo import write_demo_archive

    call = re.search(
        r"demo-archive --into \S+ --captures (\d+) --hosts (\d+) --seed (\d+)", text_of("Makefile")
    )
    uri = re.search(r"^DEMO_URI := (\S+)$", text_of("Makefile"), re.MULTILINE)
    assert call
    assert uri
    assert (
        write_demo_archive(tmp_path, int(call[1]), int(call[2]), int(call[3])).example_uri == uri[1]
    )


@pytest.mark.parametrize(
    "name",
    [
        "LICENSE",
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "docs/reference/settings.md",
        "conf/local.conf",
    ],
)
def test_a_newcomer_finds(name: str) -> None:
    assert text_of(name).strip()


def test_the_citation_names_this_version() -> None:
    assert f"\nversion: {VERSION}\n" in text_of("CITATION.cff")


def test_architecture_has_a_heading_for_each_folder() -> None:
    subpackages = {path.parent.name for path in (ROOT / "arclink").glob("*/__init__.py")}
    folders = {"arclink", "jobs", "service", *(f"arclink/{name}" for name in subpackages)}
    headings = {
        heading.rstrip("/")
        for line in re.findall(r"^## (.*)$", text_of("ARCHITECTURE.md"), re.MULTILINE)
        for heading in line.split(", ")
    }
    assert folders - headings == set()


# Dependencies


def normal(requirement: str) -> str:
    """Return a package's name in its one form: without version, in lower case, with hyphens."""
    return re.sub(r"[-_.]+", "-", re.split(r"[\s<>=!~;\[]", requirement.strip())[0]).lower()


@cache
def declared() -> dict[str, list[str]]:
    """Return the names of the packages in setup.cfg: ``run`` (with locked extras), ``test``,
    ``browser``, ``fuzz`` and ``engines``.
    """
    config = ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    extras = config["options.extras_require"]
    sections = {
        "run": config["options"]["install_requires"]
        + extras["analysis"]
        + extras["cassandra"]
        + extras["rdf"],
        **extras,
    }
    sections["engines"] = "\n".join(
        extras[name] for name in ("emr", "kerberos", "s3", "spark", "engines")
    )
    return {
        name: [normal(line) for line in text.split("\n") if line.strip()]
        for name, text in sections.items()
    }


@cache
def build_requirements() -> set[str]:
    """Return the modules of the packages that only the installation needs."""
    requires = tomllib.loads(text_of("pyproject.toml"))["build-system"]["requires"]
    return {module_of(normal(line)) for line in requires}


def modules_of(code: ast.Module) -> set[str]:
    """Return the top-level modules that code imports, but for build requirements that only types
    name.
    """
    for_types = {
        node
        for branch in ast.walk(code)
        if isinstance(branch, ast.If)
        and isinstance(branch.test, ast.Name)
        and branch.test.id == "TYPE_CHECKING"
        for statement in branch.body
        for node in ast.walk(statement)
    }
    found = set()
    for node in ast.walk(code):
        names: set[str] = set()
        if isinstance(node, ast.Import):
            names = {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = {node.module.partition(".")[0]}
        found |= names - build_requirements() if node in for_types else names
    return found


@cache
def imported(*folders: str) -> frozenset[str]:
    """Return the top-level modules that the code in ``folders`` imports."""
    return frozenset().union(*map(modules_of, trees(*folders).values()))


@pytest.mark.parametrize(
    ("code", "modules"),
    [
        ("if TYPE_CHECKING:\n    import cython", set()),
        ("import cython", {"cython"}),
        ("if TYPE_CHECKING:\n    pass\nelse:\n    import cython", {"cython"}),
        ("if TYPE_CHECKING:\n    import elsewhere", {"elsewhere"}),
    ],
    ids=["for types", "at run time", "at run time, else", "no build requirement"],
)
def test_a_build_requirement_is_imported_for_types_alone(code: str, modules: set[str]) -> None:
    assert modules_of(ast.parse(code)) == modules


def module_of(package: str) -> str:
    return MODULE_OF.get(package, package.replace("-", "_"))


@pytest.mark.parametrize("package", declared()["run"] + declared()["agents"])
def test_the_code_imports_the_dependency(package: str) -> None:
    """Every package that users must install is imported."""
    assert module_of(package) in imported(*PACKAGES)


@pytest.mark.parametrize(
    "package",
    [
        name
        for name in declared()["test"] + declared()["browser"] + declared()["fuzz"]
        if not name.startswith("types-")
    ],
)
def test_the_tests_use_the_dependency(package: str) -> None:
    assert package in RUN_NOT_IMPORTED or module_of(package) in imported("tests", "benchmarks")


@pytest.mark.parametrize(
    ("folders", "sections"),
    [
        (PACKAGES, ("run", "agents", "engines")),
        (("tests",), ("run", "agents", "test", "browser", "fuzz", "engines")),
    ],
    ids=["code", "tests"],
)
def test_every_package_imported_is_declared(
    folders: tuple[str, ...], sections: tuple[str, ...]
) -> None:
    """An import that works by the accident of another package's dependency breaks with its next
    version.
    """
    known = {module_of(name) for section in sections for name in declared()[section]}
    own = {*PACKAGES, "tests", "benchmarks", "pig"}
    of_flask = {"werkzeug", "jinja2"}  # Flask documents both as part of its own interface
    assert imported(*folders) - known - own - of_flask - sys.stdlib_module_names == set()


def test_packages_of_the_design_are_used_where_the_page_says() -> None:
    """The table names every file or folder below arclink/ that imports a package, and no other."""
    modules = {
        "Flask": "flask",
        "BeautifulSoup": "bs4",
        "cassandra-driver": "cassandra",
    }
    table = text_of("docs/explanation/dependencies.md").partition("## Packages of the design")[2]
    rows = re.findall(
        r"^\| ([\w-]+) \| [^|]+ \| (`[^|]+`) \|$", table.partition("\nTwo of")[0], re.MULTILINE
    )
    assert len(rows) == 8
    imports = {path.resolve(): modules_of(tree) for path, tree in trees().items()}
    in_package = set(map(Path.resolve, trees("arclink")))
    for package, imported_by in rows:
        module = modules.get(package, package)
        users = [path for path, names in imports.items() if module in names]
        named = [ROOT / importer for importer in re.findall(r"`([^`]+)`", imported_by)]
        for importer in named:
            assert any(importer in (path, *path.parents) for path in users), (
                f"{package}: {importer}"
            )
        assert [
            path
            for path in users
            if path in in_package
            and not any(importer in (path, *path.parents) for importer in named)
        ] == []


def test_dependencies_are_documented() -> None:
    """docs/explanation/dependencies.md has exactly one row for each package of setup.cfg."""
    chapters = re.split(
        "^## To .*", text_of("docs/explanation/dependencies.md"), flags=re.MULTILINE
    )[1:]
    for chapter, section in zip(
        chapters, ("run", "test", "browser", "fuzz", "engines"), strict=True
    ):
        assert [
            normal(name) for name in re.findall(r"^\| `([\w-]+)` \|", chapter, re.MULTILINE)
        ] == declared()[section]


@pytest.mark.parametrize(
    ("file", "sections"),
    [
        pytest.param("requirements/run.txt", ("run",), id="run"),
        pytest.param("requirements/test.txt", ("run", "test"), id="test"),
        pytest.param("requirements/browser.txt", ("run", "test", "browser"), id="browser"),
        pytest.param("requirements/fuzz.txt", ("run", "fuzz"), id="fuzz"),
        pytest.param("requirements/engines.txt", ("run", "test", "engines"), id="engines"),
    ],
)
def test_the_lock_has_every_dependency_with_hashes(file: str, sections: tuple[str, ...]) -> None:
    """Run `make lock` after a change of setup.cfg."""
    entries = re.split(r"\n(?=[a-z])", text_of(file))[1:]
    assert [entry.partition(" ")[0] for entry in entries if "--hash=sha256:" not in entry] == []
    locked = {normal(entry) for entry in entries}
    assert {name for section in sections for name in declared()[section]} - locked == set()


def test_a_version_has_the_same_hashes_in_every_lock() -> None:
    """A version that was changed by hand keeps the hashes of another one; `make lock` keeps them,
    too. Delete the entry, then run it again.
    """
    hashes: dict[tuple[str, str], dict[str, frozenset[str]]] = {}
    for path in sorted((ROOT / "requirements").glob("*.txt")):
        for entry in re.split(r"\n(?=[a-z])", text_of(f"requirements/{path.name}"))[1:]:
            version = re.match(r"([\w.-]+)==([^\s;]+)", entry)
            assert version, f"{path.name}: {entry[:60]}"
            found = frozenset(re.findall(r"--hash=sha256:(\w+)", entry))
            hashes.setdefault((version[1], version[2]), {})[path.name] = found
    assert {version: set(of) for version, of in hashes.items() if len(set(of.values())) > 1} == {}


def test_no_test_module_imports_from_another() -> None:
    """Helpers are in modules of their own: a change of one test changes no other."""
    test_module = re.compile(r"tests(\.\w+)*\.test_\w+\b")
    imports = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path, tree in trees("tests", "benchmarks").items()
        for name in names_imported(tree)
        if test_module.match(name)
    ]
    assert imports == []


# The gate


OUTCOMES = {
    "passed": ("def test_it(): pass", 0, "1 passed"),
    "failed": ("def test_it(): assert 1 == 2", 1, "FAILED test_it.py::test_it"),
    "skipped": (
        "import pytest\n@pytest.mark.skip(reason='no data')\ndef test_it(): pass",
        1,
        "SKIPPED test_it::test_it: no data",
    ),
    "a whole file skipped": (
        "import pytest\npytest.skip('no data', allow_module_level=True)",
        1,
        "1 skipped",
    ),
    "failed as expected": (
        "import pytest\n@pytest.mark.xfail\ndef test_it(): assert False",
        0,
        "1 xfailed",
    ),
    "no test": ("", 1, "no test ran"),
    "broken": ("import a_module_that_is_not_there", 1, "ERROR test_it.py"),
    "tests not reached": (None, 1, "no spelling today"),
}


# Not the whole environment: make and pytest hand their own options down in it. Plugins cost most of
# the time of a run with one test.
ENVIRONMENT = {"PATH": os.environ["PATH"], "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


@pytest.fixture(scope="module")
def recipe_for(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """A function that runs a test file once, with the options of the gate, and returns a recipe
    that repeats what the test runner printed, reported and returned.
    """
    options = re.search(r'PYTEST_OPTIONS="(.*?)"', text_of(".ci/run"))
    assert options
    words = options[1].replace("$report", "report.xml").split()

    @cache
    def recipe(test: str) -> str:
        folder = tmp_path_factory.mktemp("gate")
        (folder / "pytest.ini").write_text("[pytest]\n")
        (folder / "test_it.py").write_text(test)
        run = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words, "test_it.py"],
            cwd=folder,
            env=ENVIRONMENT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60,
            check=False,
        )
        (folder / "printed").write_bytes(run.stdout)
        report = "$(patsubst --junit-xml=%,%,$(filter --junit-xml=%,$(PYTEST_OPTIONS)))"
        return f"@cat {folder}/printed; cp {folder}/report.xml {report}; exit {run.returncode}"

    return recipe


@pytest.mark.parametrize("target", ["test", "test-browser", "test-engines"])
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_the_gate_fails_unless_every_test_passed(
    outcome: str, target: str, recipe_for: Callable[[str], str], tmp_path: Path
) -> None:
    """.ci/run on a small project: its exit code, and that it says why and closes with the test
    runner's line.
    """
    test, code, text = OUTCOMES[outcome]
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".ci" / "run").write_text(text_of(".ci/run"))
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(sys.executable)
    recipes = dict.fromkeys(
        ["test", "test-browser", "test-engines"], recipe_for("def test_other(): pass")
    )
    recipes[target] = recipe_for(test) if test is not None else "@echo no spelling today; false"
    (tmp_path / "Makefile").write_text(
        "".join(f"{name}:\n\t{words}\n" for name, words in recipes.items())
    )
    run = subprocess.run(
        ["bash", ".ci/run"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    lines = run.stdout.splitlines()
    assert run.returncode == code, run.stdout
    assert text in run.stdout
    if test or target == "test":
        assert re.fullmatch(r"=+ .* in [0-9.]+s =+", lines[-1])
