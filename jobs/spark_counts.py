"""Counters of jobs on Spark: of a task that ran twice, they count once.

Spark runs a task again whose output went with its executor, and adds what both have counted. So counts travel under the
name of their task, and the driver keeps those that came last: either is right.

Shape: ``{"STAGE PARTITION": {"GROUP TAB NAME": count}}``.
"""

from collections import defaultdict

ByTask = dict[str, dict[str, int]]
Counters = dict[str, dict[str, int]]
"""As mrjob has them: counts by name, by group."""


class CountsByTask:
    """How Spark adds up the counts of tasks (its ``AccumulatorParam``)."""

    def zero(self, value: ByTask) -> ByTask:
        """Return what a task begins with: nothing, whatever the driver has by then."""
        return {}

    def addInPlace(self, value1: ByTask, value2: ByTask | Counters) -> ByTask:  # noqa: N802  # pyspark's name
        """Add one count of a task (``{group: {name: count}}``), or in the driver all counts of one."""
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
    r"""Return the counts of all tasks together.

    >>> summed({"0 0": {"rows\tROW_KEPT": 2}, "0 1": {"rows\tROW_KEPT": 3}})
    {'rows': {'ROW_KEPT': 5}}
    """
    counters: Counters = defaultdict(dict)
    for counts in by_task.values():
        for key, amount in counts.items():
            group, _, name = key.partition("\t")
            counters[group][name] = counters[group].get(name, 0) + amount
    return dict(counters)
