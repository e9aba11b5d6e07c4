"""The page of questions: each query has the answer that the page shows."""

import re
from pathlib import Path

import pytest

import arclink
from tests.pipeline.conftest import demo, store
from tests.relations.questions import PAGE, queries, with_answers

__all__ = ["demo", "store"]  # fixtures


def test_every_question_has_the_answer_of_the_demo_archive(store: Path) -> None:
    """``python -m tests.relations.questions STORE`` writes the answers."""
    page = PAGE.read_text("utf-8")
    with arclink.open(str(store)) as graph:
        assert with_answers(page, graph) == page


def test_a_wrong_answer_is_noticed(store: Path) -> None:
    page = PAGE.read_text("utf-8").replace("| 2009-11 | 56 |", "| 2009-11 | 57 |")
    with arclink.open(str(store)) as graph:
        assert with_answers(page, graph) == PAGE.read_text("utf-8") != page


def test_every_question_has_one_query_and_a_short_answer() -> None:
    page = PAGE.read_text("utf-8")
    questions = re.split(r"^### ", page, flags=re.MULTILINE)[1:]
    assert len(questions) >= 20
    for question in questions:
        assert len(queries(f"{question}\n")) == 1, question
        rows = re.findall(r"^\|.*\|$", question, re.MULTILINE)
        assert 3 <= len(rows) <= 12, question  # with the head of the table


@pytest.mark.parametrize("name", ["captures", "links"])
def test_the_questions_ask_both_tables(name: str) -> None:
    assert any(re.search(rf"\b{name}\b", query) for query in queries(PAGE.read_text("utf-8")))
