"""Tables that are damaged while a service has them open: no wrong answer, and they come back."""

import logging
import random
import time
from http import HTTPStatus
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from tests.relations.damage import flipped, table_files
from tests.service.conftest import client_of
from tests.service.tables import store_with_tables

QUESTION = "/ask/anchors?limit=0&kinds=all&min-hosts=0&to={0}"


def asked(client: FlaskClient, number: int) -> tuple[int, object]:
    """Return status and rows of a question that was not asked before."""
    answer = client.get(QUESTION.format(2016 + number))
    if answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE:
        assert answer.headers["Retry-After"]
    return answer.status_code, (answer.get_json() or {}).get("rows")


def answered(client: FlaskClient, number: int) -> object:
    """Return the rows of a question, when the tables can be asked."""
    end = time.monotonic() + 120
    while (found := asked(client, number))[0] == HTTPStatus.SERVICE_UNAVAILABLE:
        assert time.monotonic() < end
        time.sleep(0.1)
    assert found[0] == HTTPStatus.OK
    return found[1]


def test_flipped_bits_give_the_right_answer_or_503(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = store_with_tables(tmp_path)
    client = client_of(str(path))
    chance = random.Random(3)
    right = answered(client, 0)
    statuses = []
    for number in range(1, 20):
        with flipped(chance.choice(table_files(path)), chance):
            status, rows = asked(client, number)
        assert (status, rows) == (200, right) or status == HTTPStatus.SERVICE_UNAVAILABLE
        statuses.append(status)
        assert answered(client, 1000 + number) == right
    assert {*statuses} == {200, 503}
    errors = [one for one in caplog.records if one.levelno == logging.ERROR]
    assert len(errors) == statuses.count(503)
    assert all("is damaged" in one.getMessage() for one in errors)


def test_tables_that_stay_damaged_are_made_again(tmp_path: Path) -> None:
    path = store_with_tables(tmp_path)
    client = client_of(str(path))
    right = answered(client, 0)
    files = table_files(path)
    for file in files:
        with file.open("r+b") as stream:
            stream.truncate(0)
    assert asked(client, 1)[0] == HTTPStatus.SERVICE_UNAVAILABLE
    assert answered(client, 2) == right
    assert not {*files} & {*table_files(path)}
    assert answered(client, 0) == right
