"""The rules of SURTs with which the keys of a store were made.

A store finds captures and links by SURT, so its keys must all follow one version of the rules
(`arclink.uris.surts.KEY_RULES`), which it records as a setting. A store with other rules can be
read, with a warning: it has no answers about the few URIs whose SURT has changed. It cannot be
loaded or made to forget captures, because then some of its rows would not be found.
"""

import warnings
from collections.abc import Mapping

from arclink.errors import StoreError
from arclink.store.protocols import OpenStore
from arclink.uris.surts import KEY_RULES

KEYS_SETTING = "keys"
"""Name of the setting that records the rules."""

FIRST_RULES = "1"
"""The rules of stores and graph files that do not record any."""

_BUILD_AGAIN = "Build it again: arclink build INPUT... --store STORE --rebuild"


class OtherKeysWarning(UserWarning):
    """A store is read whose keys follow other rules than those of queries."""


def warn_of_other_keys(store: OpenStore, where: str) -> None:
    """Warn if the keys of a store follow other rules than those of queries."""
    rules = _rules_of(store)
    if rules is not None and rules != KEY_RULES:
        warnings.warn(
            f"{where}: its keys follow rules {rules}, this ArcLink has rules {KEY_RULES}. Queries "
            "for some URIs find nothing: those with escaped delimiters such as %26, those of hosts "
            f"such as www.gov.uk, and records such as urn:text:URI. {_BUILD_AGAIN}",
            OtherKeysWarning,
            stacklevel=3,
        )


def needs_these_keys(store: OpenStore, where: str) -> None:
    """Check that the keys of a store follow the rules of this ArcLink.

    Raises:
        StoreError: They follow others, so not all captures of a takedown would be found.
    """
    rules = _rules_of(store)
    if rules is not None and rules != KEY_RULES:
        raise StoreError(
            f"{where}: its keys follow rules {rules}, this ArcLink has rules {KEY_RULES}, so it "
            f"may not find all captures to forget. {_BUILD_AGAIN}"
        )


def with_key_rules(settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings of graph files or of a store; with the first rules if they record none.

    >>> with_key_rules({"rules": "{}"})
    {'rules': '{}', 'keys': '1'}
    """
    recorded = dict(settings)
    if "rules" in recorded:
        recorded.setdefault(KEYS_SETTING, FIRST_RULES)
    return recorded


def united_settings(
    known: Mapping[str, str], given: Mapping[str, str], where: str
) -> dict[str, str]:
    """Return the settings of a store together with those of a batch.

    Raises:
        StoreError: One of them differs.
    """
    united = with_key_rules(known)
    for name, value in with_key_rules(given).items():
        if united.setdefault(name, value) != value:
            raise StoreError(
                f"{where} was built with {name} = {united[name]}, not {value}. Use that setting, "
                "or build a new store."
            )
    return united


def _rules_of(store: OpenStore) -> str | None:
    """Return the rules of a store's keys; None if it records no settings."""
    names = ("rules", KEYS_SETTING)
    known = {name: value for name in names if (value := store.setting(name)) is not None}
    return with_key_rules(known).get(KEYS_SETTING)
