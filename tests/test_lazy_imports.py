"""Modules that are loaded when one of their names is first used."""

import subprocess
import sys

import pytest

SCRIPT = """
import sys
from arclink.lazy_imports import imported_lazily

with imported_lazily("{module}"):
    import {module}
assert "{loaded}" not in sys.modules
{use}
assert "{loaded}" in sys.modules
import {module} as real
assert real is sys.modules["{module}"]
"""


@pytest.mark.parametrize(
    ("module", "loaded", "use"),
    [
        ("colorsys", "colorsys", "assert colorsys.rgb_to_hsv(0, 0, 0) == (0, 0, 0)"),
        ("urllib.request", "http.client", "urllib.request.Request('http://a.example/')"),
    ],
)
def test_module_is_loaded_on_first_use(module: str, loaded: str, use: str) -> None:
    script = SCRIPT.format(module=module, loaded=loaded, use=use)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_links_load_no_http_client() -> None:
    """A link query reads a store only: nothing that requests URLs or starts processes."""
    script = "import sys, arclink.cli.links, arclink.access.formats, arclink.store.sqlite.store\n"
    script += "print(*{'http.client', 'multiprocessing', 'urllib.request'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.stdout.split(), done.stderr) == ([], "")
