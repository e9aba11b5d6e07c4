"""The log of the service: one line per event, as text for people or as JSON for programs.

It never contains raw control characters: requests of any client are logged, and a line end in one
would look like another event.
"""

import logging
import sys
from datetime import UTC, datetime
from enum import Enum

import orjson

from arclink.access.texts import printable


class LogForm(Enum):
    """Format of events in the log."""

    TEXT = "text"
    JSON = "json"


class _Formatter(logging.Formatter):
    """Collects the fields that both formats show."""

    def fields(self, record: logging.LogRecord) -> dict[str, object]:
        """Return the fields of an event, without raw control characters."""
        fields: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "process": record.process,
            "message": printable(record.getMessage()),
        }
        if record.exc_info:
            fields["traceback"] = [
                printable(line) for line in self.formatException(record.exc_info).splitlines()
            ]
        return fields


class TextFormatter(_Formatter):
    """One line per event; the lines of a traceback follow, each after a bar."""

    def format(self, record: logging.LogRecord) -> str:
        fields = self.fields(record)
        request = getattr(record, "request", None)
        more = (
            f" {request['bytes']} bytes {request['seconds']:.3f} s {request['remote']}"
            if isinstance(request, dict)
            else ""
        )
        traceback = fields.get("traceback")
        below = [f"  | {line}" for line in traceback] if isinstance(traceback, list) else []
        return "\n".join(
            [
                f"{fields['time']} {fields['level']} {fields['logger']}: {fields['message']}{more}",
                *below,
            ]
        )


class JsonFormatter(_Formatter):
    """One JSON object per event, with the fields of the request if there is one."""

    def format(self, record: logging.LogRecord) -> str:
        request = getattr(record, "request", None)
        return orjson.dumps(
            {**self.fields(record), **(request if isinstance(request, dict) else {})}
        ).decode()


def set_up_logging(form: LogForm = LogForm.TEXT, *, with_access: bool = False) -> None:
    """Write events to standard error: errors and warnings; with ``with_access``, every request."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if form is LogForm.JSON else TextFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("arclink.access").setLevel(logging.INFO if with_access else logging.WARNING)
    logging.getLogger("arclink.service").setLevel(logging.INFO)
