"""Texts of the project use plain English: no phrase of `tests.english.PHRASES` is in them."""

import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.english import PHRASES, findings, texts_of, texts_of_python

ROOT = Path(__file__).resolve().parents[1]

SEARCHED = (
    "arclink/*.py",
    "arclink/*.pyx",
    "service/*.html",
    "cassandra_schema/*.cql",
    "benchmarks/*.md",
    "benchmarks/*.py",
    "benchmarks/*.java",
    "conf/*",
    "docs/*.md",
    "engines/*.sh",
    "jobs/*.py",
    "pig/*",
    "service/*.py",
    "tests/*.md",
    "tests/*.py",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Makefile",
    "README.md",
    "SECURITY.md",
    "setup.py",
)

FILES_LEFT_OUT = {
    "docs/reference/commands.md": "its tables repeat the help texts, which are searched",
    "arclink/demo/": "the generated pages contain invented English texts",
    "tests/english.py": "it lists the phrases",
    "tests/test_english.py": "it has sentences with the phrases",
}


def files() -> list[Path]:
    """Return the searched files: those that git has, or in a copy without git all that match."""
    listed = subprocess.run(
        ["git", "ls-files", *SEARCHED], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split()
    names = listed or [
        name
        for path in sorted(ROOT.rglob("*"))
        for name in [path.relative_to(ROOT).as_posix()]
        if path.is_file() and any(fnmatch(name, pattern) for pattern in SEARCHED)
    ]
    return [ROOT / name for name in names if not name.startswith(tuple(FILES_LEFT_OUT))]


def test_texts_use_plain_english() -> None:
    """If it fails, rewrite the sentence."""
    found = [
        f"{path.relative_to(ROOT)}:{text.line}: {finding}"
        for path in files()
        for text in texts_of(path)
        for finding in findings(text.words)
    ]
    assert found == []


@pytest.mark.parametrize(
    "sentence",
    [
        pytest.param("Return what the page shows.", id="return what"),
        pytest.param("Tell whether a row is one.", id="tell whether"),
        pytest.param("What nobody asked for.", id="nobody"),
        pytest.param("Read are, plain or gzip:", id="participle first"),
        pytest.param("The file is kept beside the store.", id="beside"),
        pytest.param("The links behind the first one.", id="behind"),
        pytest.param("It takes a tenth of the time.", id="share in words"),
        pytest.param("A made-up graph.", id="made-up"),
        pytest.param("The name stands in the\n    row.", id="over two lines"),
    ],
)
def test_a_forbidden_phrase_is_found(sentence: str) -> None:
    assert findings(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        pytest.param("Return the mementos of one SURT, oldest first.", id="a noun"),
        pytest.param("The store is next to the archive files.", id="next to"),
        pytest.param("None of them is a capture.", id="none of"),
    ],
)
def test_a_plain_sentence_passes(sentence: str) -> None:
    assert findings(sentence) == []


def test_docstrings_comments_and_messages_of_python_are_searched() -> None:
    source = (
        '"""Nobody reads this."""\nraise ValueError("nobody reads this")  # nobody reads this\n'
    )
    assert [len(findings(text.words.lower())) for text in texts_of_python(source)] == [1, 1, 1]


def test_every_phrase_has_a_replacement() -> None:
    assert all(PHRASES.values())
