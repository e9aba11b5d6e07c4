"""Requests to a service."""

import http.client


def fetch(port: int, path: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path, headers={"Host": "localhost"})
    response = connection.getresponse()
    found = response.status, response.read()
    connection.close()
    return found
