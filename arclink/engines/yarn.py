"""Applications of YARN, by Hadoop's own client."""

import re
import subprocess
from collections.abc import Sequence

CLIENT = "org.apache.hadoop.yarn.client.cli.ApplicationCLI"
"""The class that ``yarn application`` runs; the program ``hadoop`` has it on its class path."""

SECONDS = 120.0
"""Seconds after which the client of YARN is given up."""

_ID = re.compile(r"^application_\d+_\d+", re.MULTILINE)


def end_applications(hadoop: Sequence[str], tag: str) -> list[str]:
    """End the applications with a tag that are not over; return their ids.

    Nothing is reported if YARN cannot be reached: the caller is about to end, and the applications
    write to a folder that no other job uses.

    Args:
        hadoop: The program ``hadoop`` with its first arguments.
        tag: In lower case.
    """
    states = "NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING"
    said = _answer([*hadoop, CLIENT, "application", "-list", "-appTags", tag, "-appStates", states])
    running = _ID.findall(said)
    if running:
        _answer([*hadoop, CLIENT, "application", "-kill", *running])
    return running


def _answer(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout
