"""CDX files for archive files."""

from pathlib import Path


def cdx_of(archive: Path, names: list[str], path: Path) -> Path:
    from collections import Counter

    from arclink.filter.index import index_archive

    rows = [
        row + b"\n" for name in names for row in index_archive(str(archive / name), name, Counter())
    ]
    path.write_bytes(b"".join(sorted(rows)))
    return path
