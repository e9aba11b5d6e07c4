"""The part of the installation that setup.cfg cannot express.

Compiled modules, if there is a C compiler.
"""

import os
from copy import copy as shallow_copy
from hashlib import sha256
from pathlib import Path
from typing import Any

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

PACKAGE = Path("arclink")
LOOPS = (
    "extract/plain_links.py",
    "extract/text_blocks.py",
    "filter/shuffle.py",
    "graph/block_links.py",
    "store/blocks/inlink_numbers.py",
)
"""Python modules that are compiled unchanged, from the package's folder."""


class BuildStamped(build_ext):
    """Compiles copies of the sources, each with one more line: its files, and their SHA-256."""

    def finalize_options(self) -> None:
        """Let the copies find declarations of the package (``*.pxd``)."""
        super().finalize_options()
        self.cython_include_dirs = [str(PACKAGE.parent)]

    def build_extension(self, ext: Any) -> None:  # Any: distutils has no types
        """Build one module; `arclink.native` compares the digest when it loads it."""
        source = Path(ext.sources[0])
        content = source.read_bytes()
        files = [source, *map(Path, ext.depends)]
        names = tuple(file.relative_to(PACKAGE).as_posix() for file in files)
        stamp = names, sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
        stamped = Path(self.build_temp, "stamped", source.name)
        stamped.parent.mkdir(parents=True, exist_ok=True)
        stamped.write_bytes(content + f"\nSOURCE = {stamp!r}\n".encode())
        of_copy = shallow_copy(ext)  # an sdist is to have the source, not the copy
        of_copy.sources = [str(stamped)]
        super().build_extension(of_copy)


CHECKED = [str(PACKAGE / "native" / "checked.pxd")]
SOURCES = [*sorted(PACKAGE.glob("native/*.pyx")), *(PACKAGE / loop for loop in LOOPS)]

# Builds of a graph take as long as with -O3, and compiling 40 % of its time: debugging information
# and the optimiser's second pass were most of it.
FLAGS = ["-g0", "-O1"] if os.name == "posix" else []

setup(
    cmdclass={"build_ext": BuildStamped},
    ext_modules=[
        Extension(
            f"arclink.native.{source.stem}",
            [str(source)],
            depends=CHECKED if source.suffix == ".pyx" else [],
            extra_compile_args=FLAGS,
            optional=True,
        )
        for source in SOURCES
    ],
)
