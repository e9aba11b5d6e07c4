"""Modules that ArcLink seldom needs are loaded at their first use, not at import."""

import subprocess
import sys


def said(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.strip()


def test_a_surt_needs_no_list_of_domains() -> None:
    code = (
        "import sys; from arclink.uris.surts import surt_of; "
        "print(surt_of('http://h.org/A?b'), 'tldextract' in sys.modules)"
    )
    assert said(code) == "org,h)/a?b False"


def test_domains_are_available_on_request() -> None:
    suffix = (
        "from surt.handyurl import handyurl; url = handyurl(host=b'h.org'); url.host = "
        "'www.h.org'; print(url.getPublicSuffix())"
    )
    assert said(f"import arclink.uris.surts; {suffix}") == "b'h.org'"
    assert (
        said(
            "import arclink.uris.surts, tldextract; print(tldextract.__name__, "
            "tldextract.TLDExtract.__name__)"
        )
        == "tldextract TLDExtract"
    )


def test_a_task_needs_neither_yaml_nor_http() -> None:
    assert (
        said(
            "import sys, arclink.jobs.extract_links; print({'yaml', 'urllib.request', "
            "'http.client'} & {*sys.modules})"
        )
        == "set()"
    )


def test_a_driver_reads_yaml_and_urls() -> None:
    code = (
        "import arclink.mapreduce.job; from mrjob.conf import _load_yaml_with_clear_tag as "
        "load; from mrjob.parse import to_uri; "
    )
    assert (
        said(code + "print(load('a: [1, x]'), to_uri('/a b'))") == "{'a': [1, 'x']} file:///a%20b"
    )


def test_help_and_completion_import_no_command() -> None:
    """So both come at once, whatever the commands import."""
    code = """
import sys, click
from click.testing import CliRunner
from arclink.cli.main import group
print(CliRunner().invoke(group, ["--help"]).output)
print(*[item.value for item in group.shell_complete(click.Context(group), "ex")])
print([name for name in sys.modules if name in ("arclink.cli.query_commands", "arclink.store")])
"""
    *shown, completions, imported = said(code).splitlines()
    assert "  links         Show the links of a URI through time." in shown
    assert completions == "explain export extract"
    assert imported == "[]"


def test_a_module_of_a_package_is_loaded_at_its_first_use() -> None:
    """Also through the name that the package has for it, as in `xml.sax.saxutils`."""
    code = """
import sys
from arclink.extras import imported_lazily

with imported_lazily("urllib.request"):
    import urllib.request
before = "http.client" in sys.modules
urllib.request.Request("http://a.example/")
print(before, "http.client" in sys.modules, urllib.request is sys.modules["urllib.request"])
"""
    assert said(code) == "False True True"


def test_a_link_query_needs_neither_http_nor_other_processes() -> None:
    code = (
        "import sys; from arclink.cli.query_commands import load_command; load_command('links'); "
        "import arclink.store.sqlite.store; "
        "print({'http.client', 'multiprocessing', 'urllib.request'} & {*sys.modules})"
    )
    assert said(code) == "set()"


def test_a_query_imports_nothing_for_the_other_queries_of_its_module() -> None:
    code = (
        "import sys; from arclink.cli.query_commands import load_command; load_command('NAME'); "
        "print(sorted({'numpy', 'arclink.access.answers', 'arclink.access.differences', "
        "'arclink.analysis.questions.table'} & {*sys.modules}))"
    )
    assert said(code.replace("NAME", "stats")) == "[]"
    assert "arclink.access.differences" in said(code.replace("NAME", "diff"))
    assert "arclink.analysis.questions.table" not in said(code.replace("NAME", "diff"))


def test_a_filter_task_and_a_build_that_has_not_begun_need_no_parser_or_store() -> None:
    code = (
        "import sys, arclink.jobs.filter_captures, arclink.cli.build; "
        "print({'selectolax', 'feedparser', 'arclink.extract.html', 'numpy', 'email'} "
        "& {*sys.modules})"
    )
    assert said(code) == "set()"


def test_a_stage_that_opens_no_store_needs_no_numpy() -> None:
    code = (
        "import sys, arclink.operations.one_stage, arclink.pipeline.build; "
        "print({'numpy', 'apsw', 'selectolax'} & {*sys.modules})"
    )
    assert said(code) == "set()"


def test_a_build_here_needs_no_spark() -> None:
    """Where pyspark is installed, a driver that needs its folder still finds it."""
    code = """
import sys
from arclink.jobs.index_archives import IndexArchives
import mrjob.bin
before = "pyspark" in sys.modules
found = mrjob.bin.pyspark
print(before, found is None or found.__file__.endswith("__init__.py"))
"""
    assert said(code) == "False True"


EXTRAS = "anyio bs4 cassandra duckdb gssapi igraph mcp networkx pandas pyarrow rdflib s3fs scipy"
"""Packages of the extras; what needs one names its extra when it is used, and not before."""

WITHOUT_EXTRAS = """
import sys

sys.modules.update(dict.fromkeys(sys.argv[1].split()))

import click

import arclink.linkgraph, arclink.operations.functions, arclink.service.server
from arclink.cli.main import group


def commands_of(group, context):
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield name
        if isinstance(command, click.Group):
            yield from commands_of(command, context)


print(*commands_of(group, click.Context(group)))
"""


def test_doors_open_without_the_packages_of_extras() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRAS, EXTRAS], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert {"links", "ask", "serve", "sql", "pagerank", "aggregate"} <= {*done.stdout.split()}
