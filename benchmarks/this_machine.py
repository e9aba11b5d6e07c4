"""Description of the machine and the versions that a benchmark ran on."""

import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from arclink import native
from benchmarks.bench import ROOT


def machine() -> str:
    """Return the machine and the versions of a run, in Markdown."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    lines = [
        f"{platform.system()} {platform.release()}, {_processor()}, {os.cpu_count()} cores, "
        f"{memory:.0f} GB; Python {platform.python_version()} ({platform.python_compiler()}, "
        f"{platform.python_build()[1]}); load average at the start {os.getloadavg()[0]:.1f}",
        (
            f"ArcLink {_version('arclink')}{_commit()}, "
            f"{'with' if native.is_used() else 'without'} compiled forms; "
        )
        + ", ".join(
            f"{name} {_version(name)}" for name in ("selectolax", "ada-url", "numpy", "zstandard")
        ),
        f"`python -m benchmarks.run {' '.join(sys.argv[1:])}`",
    ]
    return "\n".join(f"- {line}" for line in lines)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    names = [
        line.partition(":")[2].strip()
        for line in _lines(Path("/proc/cpuinfo"))
        if line.startswith("model name")
    ]
    return names[0] if names else platform.machine()


def _lines(path: Path) -> Sequence[str]:
    return path.read_text().splitlines() if path.exists() else []


def _commit() -> str:
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return f" ({done.stdout.strip()})" if done.returncode == 0 else ""
