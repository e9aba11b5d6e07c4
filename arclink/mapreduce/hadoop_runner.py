"""mrjob's ``hadoop`` runner, changed to make folders and write files over HTTP.

With ``hadoop fs``, each of these operations starts a JVM.
"""

from mrjob.fs.composite import CompositeFilesystem
from mrjob.fs.hadoop import HadoopFilesystem
from mrjob.fs.local import LocalFilesystem
from mrjob.hadoop import HadoopJobRunner

from arclink.errors import InputError
from arclink.network.engine_files import EngineFiles, files_of, is_of_engine
from arclink.network.object_store import is_object_store


class HttpFilesystem(HadoopFilesystem):  # type: ignore[misc]  # mrjob has no types
    """An engine's files over HTTP where the address is known; ``hadoop fs`` elsewhere."""

    def mkdir(self, path: str) -> None:
        """Make a folder and its parents."""
        if files := _files(path):
            files.make_folder(files.path_of(path))
        else:
            super().mkdir(path)

    def put(self, src: str, path: str) -> None:
        """Copy a file of this machine to the engine."""
        if files := _files(path):
            with open(src, "rb") as source:
                files.write(files.path_of(path), source)
        else:
            super().put(src, path)

    def rm(self, path_glob: str) -> None:
        """Remove a file, or a folder with its contents, if it exists."""
        if files := _files(path_glob):
            files.remove(files.path_of(path_glob))
        else:
            super().rm(path_glob)


def _files(path: str) -> EngineFiles | None:
    """Return the file system of a path.

    None if the HTTP address of HDFS is not known, or if the path is a pattern, which HTTP does not
    support.
    """
    if not is_of_engine(path) or any(special in path for special in "*?[{"):
        return None
    try:
        return files_of(path)
    except InputError:
        return None


class QuickHadoopRunner(HadoopJobRunner):  # type: ignore[misc]  # mrjob has no types
    """Runs jobs through Hadoop streaming, with one JVM per job on this machine."""

    alias = "hadoop"
    _fs: CompositeFilesystem | None

    @property
    def fs(self) -> CompositeFilesystem:
        """The file systems that the runner writes to: the engine's and this machine's."""
        if self._fs is None:
            found = CompositeFilesystem()
            found.add_fs("hadoop", HttpFilesystem(self._opts["hadoop_bin"] or None))
            found.add_fs("local", LocalFilesystem())
            self._fs = found
        return self._fs

    def _wd_mirror(self) -> str | None:
        """Return the folder from which tasks get the files of a job, or None for this machine.

        Hadoop copies files of this machine itself. It cannot copy those in an object store, because
        the name of a bucket is no host.
        """
        folder: str | None = super()._wd_mirror()
        return None if folder is not None and is_object_store(folder) else folder
