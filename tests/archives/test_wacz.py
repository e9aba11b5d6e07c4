"""Any bytes are either read as a WACZ or refused with an error."""

import io
import zipfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arclink.archives.reader import ArchiveFile
from arclink.archives.wacz import archives_in, find_entry, indexes_in, open_entry
from arclink.errors import InputError, MissingFileError

NAMES = ("archive/a.warc.gz", "indexes/index.cdx")


def zipped() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as file:
        for name in NAMES:
            file.writestr(name, b"content of " + name.encode())
    return content.getvalue()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("wacz") / "a.wacz"


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 9), st.binary(max_size=6)), max_size=4)
    | st.binary(max_size=80)
)
@example(
    [(61, 1, b"[\x1b"), (0, 2, b"3\xbe"), (51, 8, b"")]
)  # found so: the directory begins before where it says
def test_any_bytes_are_read_or_refused(
    path: Path, changed: bytes | list[tuple[int, int, bytes]]
) -> None:
    data = zipped()
    if isinstance(changed, bytes):
        data = changed
    else:
        for place, removed, added in changed:
            data = data[:place] + added + data[place + removed :]
    path.write_bytes(data)
    for read in (archives_in, indexes_in):
        try:
            found = read(str(path))
        except InputError:
            continue
        assert found == sorted(found)
    for name in NAMES:
        try:
            find_entry(str(path), name)
            open_entry(str(path), name).close()
        except InputError:
            continue


@pytest.mark.parametrize(
    ("file", "entry"),
    [("a.wacz", "archive/gone.warc.gz"), ("gone.wacz", NAMES[0])],
    ids=["entry", "WACZ"],
)
def test_a_missing_wacz_or_entry_is_a_missing_file(tmp_path: Path, file: str, entry: str) -> None:
    (tmp_path / "a.wacz").write_bytes(zipped())
    with pytest.raises(MissingFileError, match="gone"):
        ArchiveFile(f"{tmp_path / file}!/{entry}")
