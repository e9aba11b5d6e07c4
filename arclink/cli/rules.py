"""The options that choose what is filtered, shared by ``build`` and ``filter``."""

from dataclasses import replace
from pathlib import Path

from arclink.errors import UsageError
from arclink.filter.rules import Rules
from arclink.timestamps import TimestampError, first_of, last_of


def rules_from_options(
    rules_file: str | None, prefixes: tuple[str, ...], first: str | None, last: str | None, *, read_redirects: bool
) -> Rules:
    """Return the rules of a file, if one was given, with what the options change.

    Raises:
        UsageError: The file cannot be read, or a value is none.
    """
    rules = Rules()
    if rules_file is not None:
        try:
            rules = Rules.from_json(Path(rules_file).read_bytes())
        except OSError as error:
            raise UsageError(f"--rules {rules_file}: cannot be read: {error.strerror}") from error
    if prefixes:
        rules = replace(rules, prefixes=prefixes)
    try:
        if first:
            rules = replace(rules, first=first_of(first))
        if last:
            rules = replace(rules, last=last_of(last))
    except TimestampError as error:
        raise UsageError(f"--from or --to: {error}") from error
    return rules if read_redirects else replace(rules, read_redirects=False)
