"""The same work on the stores of several collections, at the same time and up to a time.

A collection that is slow or cannot be read affects only its own part of the answer.
"""

import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Final, TypeVar

from flask import copy_current_request_context

from arclink.errors import StoreError
from arclink.service.stores import Stores

T = TypeVar("T")

_SECONDS: Final = 3.0
"""Seconds after which a page no longer waits for a collection."""

_THREADS: Final = 2
"""Number of threads per collection; each keeps its store open."""

_log = logging.getLogger("arclink.service")


class Together:
    """Threads for the stores of several collections.

    Args:
        stores: By name of the collection.
    """

    def __init__(self, stores: Mapping[str, Stores]) -> None:
        self._stores = stores
        self._threads = {name: ThreadPoolExecutor(_THREADS, name) for name in stores}

    def __call__(self, work: Callable[[Stores], T]) -> Mapping[str, tuple[T | None, str]]:
        """Return, by collection, the result of ``work``, or in words why it is missing.

        Args:
            work: A function of this request.
        """
        futures = {
            name: self._threads[name].submit(copy_current_request_context(_guarded), work, stores)
            for name, stores in self._stores.items()
        }
        wait(futures.values(), _SECONDS)
        return {name: _result(future) for name, future in futures.items()}


def _guarded(work: Callable[[Stores], T], stores: Stores) -> tuple[T | None, str]:
    try:
        return work(stores), ""
    except StoreError as error:
        _log.error("the store of %s cannot be read: %s", stores.settings.collection, error)
        stores.forget()
        return None, "cannot be read at the moment"


def _result(future: "Future[tuple[T | None, str]]") -> tuple[T | None, str]:
    if future.done():
        return future.result()
    future.cancel()  # if it still waits for others
    return None, f"did not answer within {_SECONDS:g} seconds"
