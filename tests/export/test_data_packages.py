"""Every export says where it comes from, as a data package with the hashes of its files."""

import hashlib
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from arclink.analysis.export.queries import ExportFormat
from arclink.captures.queries import FORMATS_OF_FILES, CaptureFormat
from arclink.cli.main import group
from arclink.store.location import open_store
from arclink.version import VERSION
from tests.demos import Demos

# Data Package 2.0 and 1.0: the constraints on the fields that ArcLink writes.
_NAME = re.compile(r"[-a-z0-9._/]+")
_PATH = re.compile(r"(?=[^./~])(?!file:)((?!/\.\./)(?!\\)(?!://).)*")
_HASH = re.compile(r"([^:]+):([a-fA-F0-9]+)")
_DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")

SUFFIXES = {"warc": ".warc.gz", "captures": ".parquet", "captures-csv": ".csv"}


def export(store: Path, form: str, path: Path, *options: str) -> dict[str, Any]:
    """Export to a file; return its manifest, which is a valid data package."""
    arguments = ["export", "--store", str(store), "--format", form, "--into", str(path), *options]
    done = CliRunner().invoke(group, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    manifest: dict[str, Any] = json.loads(path.with_name(f"{path.name}.json").read_bytes())
    check_package(manifest, path.parent)
    return manifest


def check_package(package: dict[str, Any], folder: Path) -> None:
    assert package["$schema"] == "https://datapackage.org/profiles/2.0/datapackage.json"
    assert package["profile"] == "data-package"  # for readers of 1.0
    assert _NAME.fullmatch(package["name"])
    assert _DATE.fullmatch(package["created"])
    assert package["title"]
    assert package["description"]
    assert all(source["title"] for source in package["sources"])
    names = [resource["name"] for resource in package["resources"]]
    assert len({*names}) == len(names) > 0
    for resource in package["resources"]:
        assert _NAME.fullmatch(resource["name"])
        assert _PATH.fullmatch(resource["path"])
        data = (folder / resource["path"]).read_bytes()
        hashed = _HASH.fullmatch(resource["hash"])
        assert hashed is not None
        assert hashed.groups() == ("sha256", hashlib.sha256(data).hexdigest())
        assert resource["bytes"] == len(data)
    sizes = {resource["path"]: resource["bytes"] for resource in package["resources"]}
    assert sizes == package["files"]


@pytest.mark.parametrize("form", [*ExportFormat, *FORMATS_OF_FILES], ids=lambda form: form.value)
def test_every_export_is_a_data_package(
    demos: Demos, tmp_path: Path, form: ExportFormat | CaptureFormat
) -> None:
    suffix = SUFFIXES.get(form.value, f".{form.value}")
    manifest = export(demos.store(), form.value, tmp_path / f"demo{suffix}")
    written = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert {*manifest["files"]} == written - {f"demo{suffix}.json"}
    assert (manifest["arclink"], manifest["format"]) == (VERSION, form.value)
    assert manifest["versions"]["arclink"] == VERSION
    assert manifest["versions"]["python"]


def test_the_inputs_are_those_of_the_store(demos: Demos, tmp_path: Path) -> None:
    manifest = export(demos.store(), "csv", tmp_path / "links.csv")
    with open_store(str(demos.store())) as store:
        assert manifest["sources"] == [
            {"title": file.name, "bytes": file.size, "fingerprint": file.fingerprint}
            for file in store.files()
        ]
        batches = [json.loads(batch.manifest) for batch in store.batches()]
    (build,) = manifest["builds"]
    assert (build["first_batch"], build["last_batch"]) == (1, len(batches))
    assert build["settings"] == batches[0]["settings"]
    assert build["versions"] == batches[0]["versions"]
    assert str(demos.folder) not in json.dumps(manifest), "paths of this machine are not published"
    expected: Counter[str] = Counter()
    for batch in batches:
        for reasons in batch["counts"].values():
            expected.update(reasons)
    found = {name: count for of in manifest["build_counts"].values() for name, count in of.items()}
    assert found == dict(expected)


def test_a_subset_names_itself_and_the_files_that_have_its_captures(
    demos: Demos, tmp_path: Path
) -> None:
    with open_store(str(demos.store())) as store:
        mementos = [*store.scan_mementos()]
    file = mementos[0].file
    manifest = export(
        demos.store(), "captures-csv", tmp_path / "part.csv", "--subset", f"file:{file}"
    )
    assert manifest["subset"] == f"file:{file}"
    assert [source["title"] for source in manifest["sources"]] == [file]
    assert manifest["description"].endswith(f"subset file:{file}")


def test_any_name_of_a_file_is_a_valid_name_of_a_package(demos: Demos, tmp_path: Path) -> None:
    manifest = export(demos.store(), "captures-csv", tmp_path / "Größe (2).csv")
    assert manifest["name"] == manifest["resources"][0]["name"] == "gr-e-2-.csv"
    assert manifest["resources"][0]["path"] == "Größe (2).csv"


def test_captures_name_the_files_that_they_were_read_from(demos: Demos, tmp_path: Path) -> None:
    year = ("--to", "200912")
    listed = export(demos.store(), "captures-csv", tmp_path / "part.csv", *year)
    written = export(demos.store(), "wacz", tmp_path / "part.wacz", *year)
    with open_store(str(demos.store())) as store:
        files = {one.file for one in store.scan_mementos() if one.timestamp < "2010"}
        known = {file.name for file in store.files()}
    assert {source["title"] for source in listed["sources"]} == files < known
    added = {one["file"] for one in written["added_originals"]}
    assert {source["title"] for source in written["sources"]} == files | added
