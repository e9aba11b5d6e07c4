"""mrjob's ``hadoop`` runner, which makes folders and writes files of HDFS over HTTP: with ``hadoop fs`` each of them costs a JVM."""

from mrjob.fs.composite import CompositeFilesystem
from mrjob.fs.hadoop import HadoopFilesystem
from mrjob.fs.local import LocalFilesystem
from mrjob.hadoop import HadoopJobRunner

from arclink.errors import InputError
from arclink.webhdfs import WebHdfs, is_hdfs


class HttpFilesystem(HadoopFilesystem):  # type: ignore[misc]  # mrjob has no types
    """HDFS over HTTP where its address is known, by ``hadoop fs`` where it is not."""

    def mkdir(self, path: str) -> None:
        """Make a folder, and those above it."""
        if place := _place(path):
            place[0].make_folder(place[1])
        else:
            super().mkdir(path)

    def put(self, src: str, path: str) -> None:
        """Copy a file of this machine."""
        if place := _place(path):
            with open(src, "rb") as source:
                place[0].write(place[1], source)
        else:
            super().put(src, path)

    def rm(self, path_glob: str) -> None:
        """Remove a file, or a folder with all it holds, if it is there."""
        if place := _place(path_glob):
            place[0].remove(place[1])
        else:
            super().rm(path_glob)


def _place(path: str) -> tuple[WebHdfs, str] | None:
    """Return where HTTP finds a path; None where that is not known, and for a pattern, which HTTP does not know."""
    if not is_hdfs(path) or any(special in path for special in "*?[{"):
        return None
    try:
        return WebHdfs.of(path)
    except InputError:
        return None


class QuickHadoopRunner(HadoopJobRunner):  # type: ignore[misc]  # mrjob has no types
    """Run jobs by Hadoop streaming; one JVM for each job here, its own."""

    alias = "hadoop"
    _fs: CompositeFilesystem | None

    @property
    def fs(self) -> CompositeFilesystem:
        """What the runner writes to: HDFS, and this machine."""
        if self._fs is None:
            found = CompositeFilesystem()
            found.add_fs("hadoop", HttpFilesystem(self._opts["hadoop_bin"] or None))
            found.add_fs("local", LocalFilesystem())
            self._fs = found
        return self._fs
