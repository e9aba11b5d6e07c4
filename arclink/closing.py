"""Base of objects that hold files, connections or processes open."""

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """Base of objects that hold files, connections or processes open.

    ``with`` closes such an object at its end.
    """

    @abstractmethod
    def close(self) -> None:
        """Release what the object holds open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
