"""Demo archives, and stores of them and of real archives; each is made once for all tests."""

import fcntl
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from arclink.demo import write_demo_archive
from arclink.pipeline.settings import BuildSettings
from benchmarks.built_stores import build_store


@dataclass(frozen=True)
class Demos:
    """Demo archives and stores that the processes of a test run share.

    No test changes them: a test that has to change one takes a copy.

    Attributes:
        folder: Where they are.
    """

    folder: Path

    def archive(self, captures: int = 300, hosts: int = 12, seed: int = 1) -> Path:
        """Return the folder of an archive; by default, of the one that ``make demo`` makes."""

        def write(folder: Path) -> None:
            write_demo_archive(folder, captures, hosts, seed)

        return self._made_once(f"archive-{captures}-{hosts}-{seed}", write)

    def store(self, captures: int = 300, hosts: int = 12, seed: int = 1) -> Path:
        """Return the store of an archive, built by jobs on two cores."""
        archive = self.archive(captures, hosts, seed)

        def build(folder: Path) -> None:
            build_store(archive, folder / "links.db", BuildSettings(cores=2))

        return self._made_once(f"store-{captures}-{hosts}-{seed}", build) / "links.db"

    def real(self, *archives: Path) -> Path:
        """Return the store of real archive files or folders of them, built by jobs on two cores."""

        def build(folder: Path) -> None:
            build_store(
                folder, folder / "links.db", BuildSettings(cores=2), list(map(str, archives))
            )

        name = "-".join(f"{path.parent.name}-{path.name}" for path in archives)
        return self._made_once(f"real-{name}", build) / "links.db"

    def copy(self, folder: Path, captures: int = 300, hosts: int = 12, seed: int = 1) -> Path:
        """Return a copy of a store, in a folder."""
        return Path(shutil.copy(self.store(captures, hosts, seed), folder / "links.db"))

    def _made_once(self, name: str, make: Callable[[Path], None]) -> Path:
        """Return a folder that this process makes, unless another one has; it waits for that."""
        path, is_made = self.folder / name, self.folder / f"{name}.made"
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not is_made.exists():
                shutil.rmtree(path, ignore_errors=True)
                path.mkdir()
                make(path)
                is_made.touch()
        return path
