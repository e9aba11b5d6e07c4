"""Every answer tells one state of the store: a batch that lands while an answer is read is not seen by half of it.

What is streamed (``limit=0``) is the exception, since a reader may take as long as it likes: it has everything that was there
when it began, once, and some of what came since.
"""

from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import wraps
from typing import Any

from flask import Flask

from arclink.errors import StoreError
from service.stores import current_store
from service.validators import CHANGING


def read_one_state(app: Flask) -> None:
    """Have the views of ``app`` that answer from the store read one state of it. To be called when all of them are there."""
    for endpoint, view in app.view_functions.items():
        blueprint = endpoint.rpartition(".")[0] or None
        if blueprint not in CHANGING and endpoint != "static":
            app.view_functions[endpoint] = _of_one_state(app.ensure_sync(view))


def _of_one_state(view: Callable[..., Any]) -> Callable[..., Any]:  # Any: whatever Flask lets a view return
    @wraps(view)
    def answer(**given: str) -> Any:
        with ExitStack() as held:
            with suppress(StoreError):  # the view says so in its own way
                held.enter_context(current_store().snapshot())
            return view(**given)

    return answer
