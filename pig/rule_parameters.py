"""Parameters of filter.pig and table2.pig, so that Pig applies the rules of a rules file.

    python pig/rule_parameters.py rules.json > rules.pig    # without a file: the default rules
    python pig/rule_parameters.py --takedowns takedowns.jsonl > rules.pig

Each list of docs/reference/filter.md becomes one regular expression of Java; an empty list becomes
one that matches nothing. Takedowns, as `arclink forget --into` writes them, become one condition.
"""

import argparse
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from arclink.checksums import EMPTY_CHECKSUMS
from arclink.filter.rules import PAGE_MIMES, Rules
from arclink.model import Forgotten
from arclink.store.takedown_files import read_takedowns

ANYTHING = ".*"
NOTHING = "(?!)"


def parameters(rules: Rules, forgotten: Sequence[Forgotten] = ()) -> dict[str, str]:
    """Return Pig's parameters by name."""
    return {
        "METHODS": _any(("-", *rules.methods), NOTHING) if rules.methods else ANYTHING,
        "STATUSES": _any(rules.statuses, ANYTHING),
        "MIMES": _any(rules.mimes, ANYTHING),
        "MIMES_EXCLUDED": _any(rules.mimes_excluded, NOTHING),
        "EXTENSIONS_EXCLUDED": _any(rules.extensions_excluded, NOTHING),
        "PAGE_MIMES": _any(PAGE_MIMES if rules.mime_before_extension else (), NOTHING),
        "PREFIXES": _any((f"{prefix}*" for prefix in rules.prefixes), ANYTHING),
        "FIRST": rules.first,
        "LAST": rules.last,
        "FORGOTTEN": " OR ".join(map(_covers, forgotten)) or f"surt MATCHES '{NOTHING}'",
        "REDIRECTS": "3(?!04)[0-9][0-9]" if rules.read_redirects else NOTHING,
        # Without the checksum rule every capture is read separately, like captures without
        # checksum.
        "UNDIGESTED": _any(("-", *EMPTY_CHECKSUMS), NOTHING) if rules.checksum else ANYTHING,
    }


def _any(patterns: Iterable[str], none: str) -> str:
    """Return one expression for patterns in which only ``*`` is special.

    ``none`` for no pattern.
    """
    found = [
        ".*".join(_literal(part) for part in pattern.split("*")) for pattern in sorted(patterns)
    ]
    return "|".join(found) or none


def _covers(what: Forgotten) -> str:
    """Return the condition that a capture is one of those forgotten (`Forgotten.covers`)."""
    behind = "[),:].*" if what.is_whole_labels else ANYTHING
    return (
        f"(surt MATCHES '{_literal(what.prefix)}{behind}' AND timestamp >= '{what.span.first}' "
        f"AND timestamp <= '{what.span.last}')"
    )


def _literal(text: str) -> str:
    r"""Return an expression for a text.

    Characters that are special to Java, in Pig's quotes or in a file of parameters are escaped by
    number. Of two backslashes, Pig takes one for its own.

    >>> print(_literal("org,it's)/"))
    org,it\\x{27}s\\x{29}/
    """
    return re.sub(r"[^A-Za-z0-9/_,: -]", lambda letter: f"\\\\x{{{ord(letter[0]):x}}}", text)


def main() -> None:
    """Print the parameters, one a line."""
    given = argparse.ArgumentParser(description="The parameters of filter.pig and table2.pig.")
    given.add_argument(
        "rules", nargs="?", type=Path, help="JSON file of filter rules (docs/reference/filter.md)"
    )
    given.add_argument("--takedowns", type=Path, help="file that `arclink forget --into` wrote")
    options = given.parse_args()
    rules = Rules.from_json(options.rules.read_bytes()) if options.rules else Rules()
    forgotten = (
        [takedown.what for takedown in read_takedowns(options.takedowns)]
        if options.takedowns
        else []
    )
    for name, value in parameters(rules, forgotten).items():
        print(f'{name}="{value}"')


if __name__ == "__main__":
    main()
