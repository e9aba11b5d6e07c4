"""One request to another instance, with limits on total time and on size.

Redirects are not followed, because the address comes from the configuration and an answer must not
lead anywhere else; compressed answers are refused, because the size limit holds for the bytes sent.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from arclink.errors import InstanceError, NetworkError, NetworkFailure
from arclink.network.http import HttpClient, Response


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """A response whose body was read completely.

    Attributes:
        media_type: The media type without parameters, in lower case; empty if the answer has no
            media type.
        headers: Header values by name in lower case.
    """

    status: int
    media_type: str
    headers: Mapping[str, str]
    body: bytes


def fetch(url: str, headers: Mapping[str, str], seconds: float, most_bytes: int) -> HttpAnswer:
    """Return the response to a GET request; statuses 304 and 4xx are responses, too.

    Args:
        url: An ``http`` or ``https`` URL from the configuration, never from an answer.
        headers: Headers in addition to those of every request.
        seconds: Limit for everything: name resolution, connecting, waiting, reading.
        most_bytes: Largest size of the body.

    Raises:
        InstanceError: The response did not arrive in time, is not HTTP, is a redirect or a server
            error (5xx), or is too large, compressed or incomplete.
    """
    try:
        with (
            HttpClient(silence=seconds, total=seconds) as client,
            client.exchange("GET", url, {"Connection": "close", **headers}) as response,
        ):
            _refuse(response)
            body = b"" if response.status == 304 else response.body(most_bytes)
    except NetworkError as error:
        if error.failure in (NetworkFailure.SILENT, NetworkFailure.OVER):
            raise InstanceError(f"no complete answer within {seconds:.3g} s") from error
        raise InstanceError(error.detail) from error
    fields = {name.lower(): value for name, value in response.headers.items()}
    media_type = fields.get("content-type", "").partition(";")[0].strip().lower()
    return HttpAnswer(response.status, media_type, fields, body)


def _refuse(response: Response) -> None:
    status = response.status
    if status >= 500:
        pause = response.headers.get("Retry-After", "")
        again = f"; ask again in {pause} s" if re.fullmatch("[0-9]{1,6}", pause) else ""
        raise InstanceError(f"it answers with status {status}{again}")
    if 300 <= status < 400 and status != 304:
        raise InstanceError(
            f"it answers with a redirect ({status}), which is not followed; configure the "
            "address it leads to"
        )
    coding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if coding not in ("", "identity"):
        raise InstanceError(
            f"its answer is compressed ({coding[:40]!a}), although the request excluded this"
        )
