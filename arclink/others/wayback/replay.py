"""Replay of one capture from a Wayback Machine, with the bytes that were captured.

Strategy. ``id_`` after the timestamp requests the original bytes. If an archive does not support
it, the page in a frame (``if_``) is requested, then the ordinary page, and the rewriting is undone.
A redirect with ``Memento-Datetime`` is a captured redirect (RFC 7089, 4.5.3) and is not followed.
One without it is the replay's own redirect to a capture near by, and is followed on the same host.
The answer is compared with the index: time, status, digest.

Headers. Captured headers have the prefix ``X-Archive-Orig-…``, or their own name among the headers
of the archive; of the latter, only those are kept that say how to read the payload. Chunks are
already decoded, so lengths are computed again.
"""

import base64
import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import ada_url

from arclink.errors import FetchError
from arclink.extract.replay_markup import is_rewritten, undo_rewriting, undo_uri
from arclink.model import Checksum, Timestamp, UriR
from arclink.network.addresses import joined
from arclink.others.wayback.capture_lists import memento_time, memento_uris, parse_links
from arclink.others.wayback.client import Answer, Client
from arclink.reasons import Reason
from arclink.rows.cdx import Capture
from arclink.uris.surts import surt_of

ORIGINAL = "id_"
MODIFIERS = (ORIGINAL, "if_", "")
"""The forms of a capture: original bytes, page in a frame, ordinary page."""

MOST_HOPS = 5
_PREFIX = "x-archive-orig-"
_KEPT = frozenset(
    {"content-type", "content-encoding", "content-language", "last-modified", "location", "refresh"}
)
_OF_TRANSFER = frozenset(
    {"transfer-encoding", "content-length", "connection", "keep-alive", "trailer", "upgrade"}
)
_HOST_ONLY = re.compile("https?://[^/?#]+", re.IGNORECASE)
_ALGORITHMS = frozenset({"md5", "sha256", "sha512"})
_BASE32_SHA1 = re.compile("[A-Z2-7]{32}")
_REASONS = {
    401: Reason.FETCH_REFUSED,
    403: Reason.FETCH_REFUSED,
    404: Reason.FETCH_NOT_FOUND,
    410: Reason.FETCH_NOT_FOUND,
    451: Reason.FETCH_REFUSED,
}
"""Reason for each status of the archive's own answers."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A fetched capture.

    Attributes:
        uri_m: The URI-M that finally answered.
        status: Status of the capture, three digits.
        phrase: Its reason phrase; may be empty.
        headers: The known headers of the capture, without those about transfer.
        body: The payload, without transfer coding.
        checksum: SHA-1 of the body.
        is_cut: Whether its end was not read, or was not received.
        notes: Reasons that note something unusual.
    """

    uri_m: str
    status: str
    phrase: str
    headers: Sequence[tuple[str, str]]
    body: bytes
    checksum: Checksum
    is_cut: bool
    notes: Sequence[Reason]

    @property
    def mime(self) -> str:
        """The content type in lower case without parameters; ``-`` if it is missing."""
        declared = next(
            (value for name, value in self.headers if name.lower() == "content-type"), ""
        )
        return declared.partition(";")[0].strip().lower().replace(" ", "") or "-"


class Replay:
    """The replay of one archive.

    Args:
        client: Sends the requests.
        base: Part of its URI-Ms before ``/TIMESTAMP/URI``, without a slash at its end.
        limit: Maximum bytes of a payload to read.
        modifiers: Members of `MODIFIERS` to try, in this order; the first one that returns a
            memento is used from then on.
    """

    def __init__(
        self, client: Client, base: str, limit: int, modifiers: Sequence[str] = MODIFIERS
    ) -> None:
        self._client = client
        self._base = base
        self._limit = limit
        self._modifiers = tuple(modifiers)
        self._memento_uri = memento_uris(base)

    def fetch(
        self, capture: Capture, is_other: Callable[[Checksum], bool] = lambda checksum: False
    ) -> Fetched:
        """Fetch a capture.

        Args:
            capture: Its row in the index.
            is_other: Returns whether a checksum is that of another capture of the same URI and
                time.

        Raises:
            FetchError: It could not be fetched; the reason says whether a later try may succeed.
            WaybackError: See `Client.get`.
        """
        problem: FetchError | None = None
        for modifier in self._modifiers:
            try:
                fetched = self._fetch(capture, modifier, is_other)
            except FetchError as error:
                if error.reason not in (Reason.FETCH_NOT_FOUND, Reason.FETCH_NO_MEMENTO):
                    raise
                problem = problem or error
            else:
                self._modifiers = (modifier,)
                return fetched
        assert problem is not None
        raise problem

    def _fetch(
        self, capture: Capture, modifier: str, is_other: Callable[[Checksum], bool]
    ) -> Fetched:
        answer, came = self._follow(
            capture, f"{self._base}/{capture.timestamp}{modifier}/{_with_path(capture.original)}"
        )
        wanted = capture.status if capture.status != "-" else "200"
        if not _is_memento(answer) and str(answer.status) != wanted:
            reason = _REASONS.get(answer.status, Reason.FETCH_NO_MEMENTO)
            raise FetchError(
                reason, f"status {answer.status}, not {wanted}, for {answer.uri[:200]}"
            )
        notes: list[Reason] = []
        body = answer.body
        if not answer.is_cut and (modifier != ORIGINAL or is_rewritten(body, self._base)):
            body = undo_rewriting(body, self._base)
            notes.append(Reason.NOTE_REWRITING_UNDONE)
        if answer.is_cut:
            notes.append(Reason.NOTE_ANSWER_CUT)
        if answer.is_short:
            notes.append(Reason.NOTE_ANSWER_SHORT)
        digest = _digest_of(body, capture.checksum)
        self._compare(capture, answer, came, digest, is_other, notes)
        return Fetched(
            uri_m=answer.uri,
            status=str(answer.status),
            phrase=answer.phrase,
            headers=_captured_headers(answer, self._base),
            body=body,
            checksum=checksum_of(body),
            is_cut=answer.is_cut or (answer.is_short and digest != capture.checksum),
            notes=notes,
        )

    def _follow(self, capture: Capture, uri: str) -> tuple[Answer, Timestamp]:
        """Return the answer after the replay's own redirects, with the memento's time, if known."""
        for _ in range(MOST_HOPS + 1):
            answer = self._client.get(uri, self._limit, lambda one: _is_enough(one, capture))
            leads_to = self._leads_to(capture, answer)
            if not leads_to:
                in_uri = self._memento_uri.fullmatch(uri)
                came = memento_time(answer.headers.first("memento-datetime")) or Timestamp(
                    in_uri["timestamp"] if in_uri else ""
                )
                return answer, came
            uri = leads_to
        raise FetchError(
            Reason.FETCH_TOO_MANY_HOPS,
            f"more than {MOST_HOPS} redirects from {capture.timestamp}/{capture.original[:200]}",
        )

    def _leads_to(self, capture: Capture, answer: Answer) -> str:
        """Return the target of the replay's own redirect.

        Empty if the answer is not such a redirect.

        Raises:
            FetchError: It leads to another URI, or out of the archive.
        """
        location = answer.headers.first("location")
        if _is_memento(answer) or not 300 <= answer.status < 400 or not location:
            return ""
        leads_to = joined(answer.uri, location)
        found = self._memento_uri.fullmatch(leads_to)
        if found is not None and surt_of(found["original"]) == surt_of(capture.original):
            return leads_to
        if capture.status.startswith("3"):
            return ""  # an archive without Memento, which returns the captured redirect itself
        reason = Reason.FETCH_OTHER_HOST if found is None else Reason.FETCH_OTHER_MEMENTO
        raise FetchError(reason, f"{answer.uri[:200]} leads to {location[:200]}")

    def _compare(
        self,
        capture: Capture,
        answer: Answer,
        came: Timestamp,
        digest: Checksum | None,
        is_other: Callable[[Checksum], bool],
        notes: list[Reason],
    ) -> None:
        """Note differences between answer and index, or refuse the answer as another capture's."""
        is_equal = digest == capture.checksum
        if came and came != capture.timestamp:
            if not is_equal or not capture.is_digested:
                raise FetchError(
                    Reason.FETCH_OTHER_MEMENTO,
                    f"received {came} for {capture.timestamp}/{capture.original[:200]}",
                )
            notes.append(Reason.NOTE_OTHER_TIME)
        if capture.status not in ("-", str(answer.status)):
            raise FetchError(
                Reason.FETCH_OTHER_MEMENTO,
                f"status {answer.status}, not {capture.status}, for {answer.uri[:200]}",
            )
        if is_equal:
            return
        original = _original_of(answer)
        if original and not is_same(original, capture.original):
            raise FetchError(
                Reason.FETCH_OTHER_MEMENTO, f"{original[:200]} came for {answer.uri[:200]}"
            )
        if Reason.NOTE_REWRITING_UNDONE in notes or answer.is_cut or digest is None:
            return  # there is nothing to compare
        if is_other(digest):
            raise FetchError(
                Reason.FETCH_OTHER_MEMENTO,
                f"digest {digest}, not {capture.checksum}, for {answer.uri[:200]}",
            )
        if capture.is_digested:
            notes.append(Reason.NOTE_DIGEST_OTHER)


def _is_memento(answer: Answer) -> bool:
    """Return whether an answer declares itself a memento (RFC 7089, 2.1.1)."""
    return bool(memento_time(answer.headers.first("memento-datetime")))


def _is_enough(answer: Answer, capture: Capture) -> bool:
    """Return whether an answer need not be requested again.

    It is enough if it is a memento and complete, or a memento of a redirect, whose body has no
    links. An answer with the digest of the index is complete, whatever its length says.
    """
    if _is_memento(answer) and (not answer.is_short or 300 <= answer.status < 400):
        return True
    return _digest_of(answer.body, capture.checksum) == capture.checksum


def _original_of(answer: Answer) -> UriR:
    """Return the URI-R that a memento declares (RFC 7089, 2.2.1); empty if it declares none."""
    for value in answer.headers.all("link"):
        for target, parameters in parse_links(value):
            if "original" in parameters.get("rel", "").split():
                return UriR(target)
    return UriR("")


def is_same(one: str, other: str) -> bool:
    """Return whether two spellings of a URI are equal to a browser; ``http`` and ``https`` differ.

    >>> is_same("http://H.example:80", "http://h.example/"), is_same("http://h.example/", "https://h.example/")
    (True, False)
    """
    try:
        return one == other or ada_url.normalize_url(one) == ada_url.normalize_url(other)
    except ValueError:
        return False


def _with_path(original: UriR) -> str:
    """Return a URI-R with the slash that browsers add to a host; pywb redirects URIs without it."""
    return f"{original}/" if _HOST_ONLY.fullmatch(original) else original


def _captured_headers(answer: Answer, base: str) -> list[tuple[str, str]]:
    """Return the header fields of the capture, in their order, without those about transfer."""
    prefixed = [
        (name[len(_PREFIX) :], value)
        for name, value in answer.headers.fields
        if name.lower().startswith(_PREFIX)
    ]
    named = {name.lower() for name, _ in prefixed}
    own = [(name, value) for name, value in answer.headers.fields if name.lower() in _KEPT - named]
    headers = [(name, value) for name, value in prefixed + own if name.lower() not in _OF_TRANSFER]
    return [
        (name, undo_uri(value, base) if name.lower() == "location" else value)
        for name, value in headers
    ]


def _digest_of(body: bytes, like: Checksum) -> Checksum | None:
    """Return the digest of a payload by the algorithm of ``like``; None if that is not known.

    >>> _digest_of(b"", Checksum("md5:00000000000000000000000000000000"))
    'md5:d41d8cd98f00b204e9800998ecf8427e'
    """
    if _BASE32_SHA1.fullmatch(like):
        return checksum_of(body)
    algorithm, colon, _ = like.partition(":")
    if not colon or algorithm not in _ALGORITHMS:
        return None
    return Checksum(
        f"{algorithm}:{hashlib.new(algorithm, body, usedforsecurity=False).hexdigest()}"
    )


def checksum_of(body: bytes) -> Checksum:
    """Return the SHA-1 of a payload in the form of the data model, also of an empty one."""
    return Checksum(base64.b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode())
