"""The outcome of each capture of a URI, over HTTP."""

import json

import pytest
from flask.testing import FlaskClient

from tests.service.conftest import T1, A, B, C


def test_explain_has_the_reason_of_each_capture(client: FlaskClient) -> None:
    answer = client.get(f"/explain?uri={C.replace('&', '%26')}").get_json()
    (memento,) = answer["mementos"]
    assert (answer["uri"], memento["reason"], memento["reason_text"]) == (
        C,
        "MEMENTO_STATUS",
        "status is not 200",
    )
    assert len(client.get(f"/explain?uri={A}").get_json()["mementos"]) == 2
    assert [
        found["timestamp"]
        for found in client.get(f"/explain?uri={A}&to=2009").get_json()["mementos"]
    ] == [T1]
    assert client.get("/explain?uri=nobody.example").get_json()["mementos"] == []


@pytest.mark.parametrize(
    ("query", "parameter"),
    [("", "uri"), (f"uri={A}&uri={B}", "uri"), (f"uri={C}", "r"), (f"uri={A}&from=x", "from")],
    ids=["no uri", "twice", "ampersand", "no time"],
)
def test_explain_names_a_wrong_parameter(client: FlaskClient, query: str, parameter: str) -> None:
    response = client.get(f"/explain?{query}")
    assert (response.status_code, json.loads(response.data)["parameter"]) == (400, parameter)
