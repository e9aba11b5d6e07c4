"""``arclink verify --files``: archive files that changed, moved or are missing."""

import gzip
import hashlib
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from arclink.archives.marks import SAMPLE
from arclink.captures import file_checks
from arclink.captures.file_checks import CheckedFile, CheckProgress, FileState, check_files
from arclink.cli.main import group
from arclink.pipeline.records_read import known_damage
from arclink.store.archive_paths import ArchivePaths
from arclink.store.location import open_store
from tests.captures.archives import Record, build, sha1, write_warc

LONG = bytes(random.Random(1).randbytes(SAMPLE))
"""A body that does not become smaller: the marks of a file with four of them leave out a part."""

RECORDS = [Record(f"http://a.example/{number}", body=LONG[number:]) for number in range(4)]


def with_block_digest(record: Record) -> Record:
    block = b"\r\n".join([*(record.head or ()), b"", b""]) + record.body
    uri = record.uri.replace("a.example", "p.example")
    return Record(uri, body=record.body, fields={"WARC-Block-Digest": f"sha1:{sha1(block)}"})


@pytest.fixture(name="files")
def files_of_three_crawls(tmp_path: Path) -> list[Path]:
    covered = [*map(with_block_digest, RECORDS)]
    return [
        write_warc(tmp_path / "archive/one.warc.gz", RECORDS),
        write_warc(tmp_path / "archive/plain.warc", covered),
        write_warc(tmp_path / "archive/small.warc.gz", [Record("http://b.example/")]),
    ]


@pytest.fixture(name="store")
def store_of_three_crawls(tmp_path: Path, files: list[Path]) -> Path:
    return build(tmp_path, files)


def results(store: Path, *archives: Path) -> dict[str, CheckedFile]:
    with open_store(str(store)) as opened, CheckProgress(store.parent / "none") as known:
        damaged = {name: damage.offset for name, damage in known_damage(opened).items()}
        paths = ArchivePaths([*map(str, archives)])
        return {file.name: file for file in check_files(opened, paths, damaged, known)}


def states(store: Path, *archives: Path) -> dict[str, str]:
    return {name: file.state.value for name, file in results(store, *archives).items()}


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(group, ["verify", *map(str, arguments)])


def flip(path: Path, offset: int, bit: int = 1) -> None:
    data = bytearray(path.read_bytes())
    data[offset] ^= bit
    path.write_bytes(data)


def test_files_that_nobody_touched_are_sound(store: Path) -> None:
    done = run("--store", store, "--files")
    assert done.exit_code == 0
    assert done.output.count("sound: ") == 3
    assert done.output.endswith(f"{store}: 3 archive files: 3 sound.\n")


@pytest.mark.parametrize("name", ["one.warc.gz", "plain.warc"])
def test_every_flipped_bit_in_a_record_is_found(store: Path, name: str) -> None:
    path = store.parent / "archive" / name
    chance = random.Random(name)
    whole = path.read_bytes()
    # The second member; in the plain file the block of its record, with its HTTP head.
    begin = whole.index(b"\x1f\x8b\x08" if name.endswith("gz") else b"HTTP/1.1", SAMPLE)
    block = range(begin + 10, begin + SAMPLE)
    for offset in (*chance.sample(block[:300], 20), *chance.sample(block, 20)):
        flip(path, offset, 1 << chance.randrange(8))
        assert states(store)[name] == "changed", offset
        path.write_bytes(whole)


def test_a_changed_file_is_named_with_the_record(store: Path) -> None:
    path = store.parent / "archive/plain.warc"
    data = path.read_bytes()
    flip(path, data.index(LONG[5000:5100], SAMPLE))
    flip(path, data.index(LONG[5000:5100], 2 * SAMPLE))
    done = run("--store", store, "--files")
    assert done.exit_code == 1
    second = data.index(b"WARC/1.0", SAMPLE)
    expected = f"a record with another digest at byte {second:,}, and 1 more"
    assert f"changed: plain.warc: {path}: {expected}\n" in done.output


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda data: data[:-1], id="cut"),
        pytest.param(lambda data: data + b"\n", id="longer"),
        pytest.param(lambda data: b"", id="empty"),
        pytest.param(lambda data: bytes(len(data)), id="zeros"),
        pytest.param(lambda data: b"?" + data[1:], id="no archive"),
    ],
)
def test_another_size_or_another_end_is_a_change(
    store: Path, change: Callable[[bytes], bytes]
) -> None:
    for name in ("one.warc.gz", "plain.warc", "small.warc.gz"):
        path = store.parent / "archive" / name
        path.write_bytes(change(path.read_bytes()))
    assert set(states(store).values()) == {"changed"}


def test_a_record_in_the_place_of_another_one_is_a_change(tmp_path: Path) -> None:
    """Sizes, both ends and the CRC of each member are as before."""
    members = [gzip.compress(record.to_bytes(), mtime=0) for record in RECORDS]
    path = tmp_path / "crawl.warc.gz"
    path.write_bytes(b"".join(members))
    store = build(tmp_path, [path])
    other = Record("http://a.example/9", body=RECORDS[2].body).to_bytes()
    members[2] = gzip.compress(other, mtime=0)
    changed = b"".join(members)
    assert len(changed) == path.stat().st_size
    path.write_bytes(changed)
    assert "another record" in results(store)["crawl.warc.gz"].detail


def test_a_moved_file_is_found_and_read(store: Path, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere/deep"
    folder.mkdir(parents=True)
    for name in ("one.warc.gz", "small.warc.gz"):
        (store.parent / "archive" / name).rename(folder / name)
    done = run("--store", store, "--files", "--archives", folder.parent)
    assert done.exit_code == 0
    assert f"moved: one.warc.gz: {folder / 'one.warc.gz'}\n" in done.output
    flip(folder / "one.warc.gz", 2 * SAMPLE)
    assert states(store, folder.parent) == {
        "one.warc.gz": "changed",
        "plain.warc": "sound",
        "small.warc.gz": "moved",
    }


def test_of_two_files_of_a_name_the_one_with_the_fingerprint_counts(
    store: Path, tmp_path: Path
) -> None:
    path = store.parent / "archive/small.warc.gz"
    (tmp_path / "copy").mkdir()
    path.rename(tmp_path / "copy/small.warc.gz")
    write_warc(path, [Record("http://c.example/")])
    assert states(store)["small.warc.gz"] == "changed"
    assert states(store, tmp_path / "copy")["small.warc.gz"] == "moved"


def test_a_missing_file_is_named(store: Path) -> None:
    path = store.parent / "archive/one.warc.gz"
    path.unlink()
    done = run("--store", store, "--files")
    assert done.exit_code == 1
    assert f"missing: one.warc.gz: {path}: no such file" in done.output
    assert "2 sound, 1 missing" in done.output


def test_what_nothing_covers_is_unknown(tmp_path: Path) -> None:
    """In a plain file without digests of blocks, a bit of an HTTP head may flip unseen."""
    path = write_warc(tmp_path / "archive/plain.warc", RECORDS)
    store = build(tmp_path, [path])
    data = path.read_bytes()
    head = data.index(b"Content-Type: text/html", SAMPLE)
    assert states(store) == {"plain.warc": "unknown"}
    flip(path, head)
    assert states(store) == {"plain.warc": "unknown"}
    flip(path, data.index(LONG[2:100], SAMPLE) + 7)
    assert states(store) == {"plain.warc": "changed"}
    assert run("--store", store, "--files").exit_code == 1


def test_a_file_that_was_damaged_at_the_build_is_never_sound(tmp_path: Path) -> None:
    path = write_warc(tmp_path / "archive/cut.warc.gz", RECORDS)
    path.write_bytes(path.read_bytes()[:-5000])
    store = build(tmp_path, [path])
    found = results(store)["cut.warc.gz"]
    assert (found.state, "already" in found.detail) == (FileState.UNKNOWN, True)
    flip(path, SAMPLE + 100)  # before the fault that the build found
    assert states(store) == {"cut.warc.gz": "changed"}


def test_a_digest_that_never_fitted_is_unknown(tmp_path: Path) -> None:
    wrong = Record("http://b.example/", body=LONG, digest=sha1(b"other bytes"))
    path = write_warc(tmp_path / "archive/crawl.warc.gz", [*RECORDS, wrong])
    assert states(build(tmp_path, [path])) == {"crawl.warc.gz": "unknown"}


@pytest.mark.parametrize("digest", ["md5", "sha256", "of the text of chunks"])
def test_other_digests_are_compared(tmp_path: Path, digest: str) -> None:
    body = LONG
    head: Sequence[bytes] = (b"HTTP/1.1 200 OK", b"Content-Type: text/html")
    field = f"sha1:{sha1(LONG)}"
    if digest in ("md5", "sha256"):
        field = f"{digest}:{hashlib.new(digest, LONG).hexdigest()}"
    else:
        body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(LONG), LONG)
        head = (*head, b"Transfer-Encoding: chunked")
    record = Record("http://b.example/", body=body, head=head)
    record.fields["WARC-Payload-Digest"] = field
    path = write_warc(tmp_path / "archive/crawl.warc.gz", [*RECORDS, record])
    assert states(build(tmp_path, [path])) == {"crawl.warc.gz": "sound"}


# Interrupted checks


@pytest.fixture(name="read")
def names_of_files_read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    names: list[str] = []
    check = file_checks._check

    def noted(*arguments: object) -> CheckedFile:
        checked: CheckedFile = check(*arguments)  # type: ignore[arg-type]  # passed on
        names.append(checked.name)
        return checked

    monkeypatch.setattr(file_checks, "_check", noted)
    return names


def interrupt(store: Path, after: int) -> None:
    """Check some files of a store, as a process that is killed then."""
    with open_store(str(store)) as opened:
        progress = CheckProgress(store.with_name(f"{store.name}.checked"))
        checked = check_files(opened, ArchivePaths(), {}, progress)
        for _ in range(after):
            next(checked)
            progress._next = 0  # as after a longer time


def test_a_killed_check_goes_on_after_the_files_that_are_done(store: Path, read: list[str]) -> None:
    interrupt(store, 2)
    assert read == ["one.warc.gz", "plain.warc"]
    done = run("--store", store, "--files")
    assert read == ["one.warc.gz", "plain.warc", "small.warc.gz"]
    assert "Going on with the check of " in done.stderr
    assert ": 2 files done" in done.stderr
    assert done.stdout.count("sound: ") == 3
    run("--store", store, "--files")
    assert len(read) == 6, "a complete check is not gone on with"


def test_a_file_that_changed_meanwhile_is_read_again(store: Path, read: list[str]) -> None:
    interrupt(store, 2)
    flip(store.parent / "archive/one.warc.gz", 2 * SAMPLE)
    assert run("--store", store, "--files").exit_code == 1
    assert read[2:] == ["one.warc.gz", "small.warc.gz"]


def test_a_file_that_was_missing_is_looked_for_again(store: Path, read: list[str]) -> None:
    path = store.parent / "archive/one.warc.gz"
    data = path.read_bytes()
    path.unlink()
    interrupt(store, 2)
    path.write_bytes(data)
    assert run("--store", store, "--files").exit_code == 0
    assert read[2:] == ["one.warc.gz", "small.warc.gz"]


def test_a_damaged_list_of_files_that_are_done_is_not_used(store: Path, read: list[str]) -> None:
    interrupt(store, 2)
    flip(store.with_name("links.db.checked"), 60)
    assert run("--store", store).exit_code == 1
    assert run("--store", store, "--files").exit_code == 0
    assert len(read) == 5
    assert not store.with_name("links.db.checked").exists()


def test_an_interrupt_keeps_the_results(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> CheckedFile:
        raise KeyboardInterrupt

    interrupt(store, 1)
    monkeypatch.setattr(file_checks, "_check", stop)
    assert run("--store", store, "--files").exit_code == 1
    assert CheckProgress(store.with_name("links.db.checked")).known == 1


def test_archives_without_files_is_a_wrong_call(store: Path) -> None:
    done = run("--store", store, "--archives", store.parent)
    assert "--archives needs --files" in str(done.exception)
