"""The settings of jobs: what ``--settings`` may say, with defaults, for a build and by hand.

The command line of a job has a fixed length: settings that grow with a store, such as its
takedowns, are in a file on the engine (`EngineRunner.run` writes it), and ``--settings`` names it.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from arclink.errors import InputError

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


def settings_text(given: str) -> str:
    """Return the JSON of ``--settings``: the value itself, or the contents of the file it names.

    Args:
        given: JSON, or the absolute path or the address of a file; tasks may run in any folder.

    Raises:
        ValueError: The file has no such name, or cannot be read.

    >>> settings_text('{"tasks": 4}')
    '{"tasks": 4}'
    """
    if given.lstrip()[:1] in ("{", "["):
        return given
    from arclink.archives.opener import open_stream

    if not (given.startswith("/") or "://" in given):
        raise ValueError("neither a JSON object nor the absolute path or the address of a file")
    try:
        with open_stream(given) as file:
            return file.read().decode()
    except (OSError, InputError, UnicodeDecodeError) as error:
        raise ValueError(f"the file cannot be read: {error}") from error


def read_settings(text: str, known: Sequence[JobSetting]) -> Mapping[str, Any]:
    """Return the settings of a job, with the defaults of those that are not given.

    Args:
        text: From `settings_text`.
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
    text = f"Settings as a JSON object, or a file that has it. {listed or 'This job has none.'}"
    return text.replace("%", "%%")
