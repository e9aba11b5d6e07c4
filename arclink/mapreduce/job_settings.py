"""The settings of jobs: what ``--settings`` may say, with defaults, for a build and by hand."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

NEEDED: Any = object()  # Any: in the place of a default of any type
"""Default of a setting that a job cannot do without."""


class JobSetting(NamedTuple):
    """A setting of a job.

    Attributes:
        name: Its name in the JSON object of ``--settings``.
        about: Its meaning, as a sentence.
        default: Its value if it is not given; `NEEDED` if it must be given.
    """

    name: str
    about: str
    default: Any = NEEDED


EXTRACT = JobSetting("extract", "Limits of extract (`ExtractSettings`).", {})
RULES = JobSetting("rules", "Text of a file of rules: JSON in a JSON string.", "{}")


def read_settings(text: str, known: Sequence[JobSetting]) -> Mapping[str, Any]:
    """Return the settings of a job, with the defaults of those that are not given.

    Args:
        text: The value of ``--settings``.
        known: The settings of the job.

    Raises:
        ValueError: The text is not a JSON object, has an unknown name, or lacks a setting that is
            needed; the error says which.

    >>> read_settings('{"tasks": 4}', [JobSetting("tasks", "Number of tasks.", 1)])
    {'tasks': 4}
    """
    given = json.loads(text)
    if not isinstance(given, dict):
        raise ValueError("it is not a JSON object")
    names = [setting.name for setting in known]
    lacking = [one for one in known if one.default is NEEDED and one.name not in given]
    if lacking:
        raise ValueError("it lacks " + "; ".join(f"{one.name!r}: {one.about}" for one in lacking))
    if unknown := sorted(set(given) - set(names)):
        raise ValueError(f"unknown: {', '.join(unknown)}; known: {', '.join(names) or 'none'}")
    return {one.name: given.get(one.name, one.default) for one in known}


def help_for(known: Sequence[JobSetting]) -> str:
    """Return the help of ``--settings`` for a job."""
    listed = " ".join(
        f"{one.name}: {one.about[:-1]} "
        f"({'needed' if one.default is NEEDED else f'default {json.dumps(one.default)}'})."
        for one in known
    )
    return f"Settings as a JSON object. {listed or 'This job has none.'}".replace("%", "%%")
