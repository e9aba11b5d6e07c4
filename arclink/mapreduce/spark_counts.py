"""Counters of jobs on Spark that count a task once, even if it ran twice.

Spark runs a task again if its output was lost with its executor, and would add the counts of both
runs. Counts are therefore keyed by task, and the driver keeps the last ones; both runs are equally
correct.

Shape: ``{"STAGE PARTITION": {"GROUP TAB NAME": count}}``.
"""

from collections import defaultdict

ByTask = dict[str, dict[str, int]]
Counters = dict[str, dict[str, int]]
"""Counts by name, by group, as mrjob has them."""


class CountsByTask:
    """Addition of the counts of tasks in Spark (its ``AccumulatorParam``)."""

    def zero(self, value: ByTask) -> ByTask:
        """Return the initial value in a task: empty, whatever the driver has at that time."""
        return {}

    def addInPlace(self, value1: ByTask, value2: ByTask | Counters) -> ByTask:  # noqa: N802  # pyspark's name
        """Add one count of a task (``{group: {name: count}}``); in the driver, all of a task."""
        from pyspark import TaskContext

        task = TaskContext.get()
        if task is None:
            value1.update(value2)
            return value1
        counts = value1.setdefault(f"{task.stageId()} {task.partitionId()}", {})
        for group, amounts in value2.items():
            for name, amount in amounts.items():
                key = f"{group}\t{name}"
                counts[key] = counts.get(key, 0) + amount
        return value1


def summed(by_task: ByTask) -> Counters:
    r"""Return the summed counts of all tasks.

    >>> summed({"0 0": {"rows\tROW_KEPT": 2}, "0 1": {"rows\tROW_KEPT": 3}})
    {'rows': {'ROW_KEPT': 5}}
    """
    counters: Counters = defaultdict(dict)
    for counts in by_task.values():
        for key, amount in counts.items():
            group, _, name = key.partition("\t")
            counters[group][name] = counters[group].get(name, 0) + amount
    return dict(counters)
