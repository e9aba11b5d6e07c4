"""mrjob's ``hadoop`` runner, changed to make folders and write files in HDFS over HTTP.

With ``hadoop fs``, each of these operations starts a JVM.
"""

from mrjob.fs.composite import CompositeFilesystem
from mrjob.fs.hadoop import HadoopFilesystem
from mrjob.fs.local import LocalFilesystem
from mrjob.hadoop import HadoopJobRunner

from arclink.errors import InputError
from arclink.network.hdfs import WebHdfs, is_hdfs


class HttpFilesystem(HadoopFilesystem):  # type: ignore[misc]  # mrjob has no types
    """HDFS over HTTP where its address is known; ``hadoop fs`` elsewhere."""

    def mkdir(self, path: str) -> None:
        """Make a folder and its parents."""
        if place := _place(path):
            place[0].make_folder(place[1])
        else:
            super().mkdir(path)

    def put(self, src: str, path: str) -> None:
        """Copy a file of this machine to HDFS."""
        if place := _place(path):
            with open(src, "rb") as source:
                place[0].write(place[1], source)
        else:
            super().put(src, path)

    def rm(self, path_glob: str) -> None:
        """Remove a file, or a folder with its contents, if it exists."""
        if place := _place(path_glob):
            place[0].remove(place[1])
        else:
            super().rm(path_glob)


def _place(path: str) -> tuple[WebHdfs, str] | None:
    """Return the HTTP client and path for an HDFS path.

    None if the HTTP address is not known, or if the path is a pattern, which HTTP does not support.
    """
    if not is_hdfs(path) or any(special in path for special in "*?[{"):
        return None
    try:
        return WebHdfs.of(path)
    except InputError:
        return None


class QuickHadoopRunner(HadoopJobRunner):  # type: ignore[misc]  # mrjob has no types
    """Runs jobs through Hadoop streaming, with one JVM per job on this machine."""

    alias = "hadoop"
    _fs: CompositeFilesystem | None

    @property
    def fs(self) -> CompositeFilesystem:
        """The file systems that the runner writes to: HDFS and this machine's."""
        if self._fs is None:
            found = CompositeFilesystem()
            found.add_fs("hadoop", HttpFilesystem(self._opts["hadoop_bin"] or None))
            found.add_fs("local", LocalFilesystem())
            self._fs = found
        return self._fs
