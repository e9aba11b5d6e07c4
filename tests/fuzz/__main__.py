"""Runs one fuzz target; `make fuzz` runs all of them.

``python -m tests.fuzz TARGET [options of libFuzzer] CORPUS``
"""

import sys
from importlib import import_module
from pathlib import Path

import atheris  # type: ignore[import-not-found,import-untyped,unused-ignore]  # installed by `make fuzz` only

if __name__ == "__main__":
    target = sys.argv.pop(1)
    with atheris.instrument_imports(include=["arclink"]):
        module = import_module(f"tests.fuzz.{target}")
    for number, seed in enumerate(module.SEEDS):
        Path(sys.argv[-1], f"seed-{number}").write_bytes(seed)
    atheris.Setup(sys.argv, module.check)
    atheris.Fuzz()
