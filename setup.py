"""What setup.cfg cannot say: the compiled forms of the innermost loops, where there is a C compiler."""

from pathlib import Path

from setuptools import Extension, setup

SOURCES = sorted(Path("arclink/native").glob("*.pyx"))

setup(ext_modules=[Extension(f"arclink.native.{source.stem}", [str(source)], optional=True) for source in SOURCES])
