"""A copy of a store, made while the store is read and loaded."""

from pathlib import Path

from arclink.access.declarations import PATH, Given, Parameter, switch
from arclink.errors import UsageError
from arclink.operations.operation import Operation, Say
from arclink.operations.parameters import STORE
from arclink.store.backups import BackedUp, back_up
from arclink.store.batch_backups import BackedUpBatches, back_up_batches

TARGET = Parameter(
    "target", "The copy.", PATH, is_required=True, is_positional=True, metavar="FILE"
)
GRAPH = Parameter(
    "graph",
    "Folder with the graph files of all batches of a store in Cassandra, in HDFS, in S3 or on "
    "this machine.",
    PATH,
    metavar="FOLDER",
    see="how-to/operations.md#backup-of-a-store-in-cassandra",
)
NO_VERIFY = switch("no-verify", "Do not check the copy. This is much faster.")


def _run(given: Given, say: Say) -> BackedUp | BackedUpBatches:
    from arclink.store.location import is_remote, open_store, path_of

    target, store, graph = TARGET.required(given), STORE.required(given), GRAPH.optional(given)
    if not is_remote(store):
        done = back_up(path_of(store), Path(target), verifies=not NO_VERIFY.required(given))
        if done.problem:
            say(
                f"note: {done.problem} A restore will need a list (--takedowns {target}.takedowns)."
            )
        return done
    if graph is None:
        raise UsageError(
            "--graph must name the folder with the graph files of the store: GRAPH below the "
            "--engine-folder of its builds, or that of --keep-graph (docs/how-to/operations.md)"
        )
    with open_store(store) as opened:
        return back_up_batches(opened, graph, Path(target))


BACKUP = Operation((TARGET, STORE, GRAPH, NO_VERIFY), _run)
