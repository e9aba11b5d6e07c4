"""Every layout of what ArcLink keeps: the present one, the older ones, and how they differ.

======================= ===================== ====================================================
what is kept            where it says so      layouts
======================= ===================== ====================================================
store                   SQLite: the header;   3: titles of pages are not kept; 4: the present one;
                        Cassandra: ``steps``  5: only in Cassandra, 4 with divided home buckets
keys of a store         setting ``keys``      1: those of the package surt, and no setting;
                                              2: the present ones (`arclink.uris.surts`)
links of a store        setting ``extractor`` the number of the extractor that read them
                        ``version``
times of captures       setting ``times``     the state of the store that they show; a store of
                                              layout 4 may lack them, until they are counted
subsets                 first line            NAME.json and NAME.captures; NAME.subset, sealed
takedowns, slices,      first line            without checksums; sealed (`arclink.files.sealed`)
tables, answers
backups                 as a store, or as     those of a store; a folder of graph files says its
                        graph files           keys in its manifests
======================= ===================== ====================================================

A file is *present*, *old*, *newer* or *damaged*. What is old is read as it is: it answers, it can
be backed up, and it forgets captures (`Keys` says how to find them). Only additions need the
present layout. ``arclink upgrade`` makes it (`arclink.operations.upgrade`). Nothing old is called
damaged, and no damaged file passes for an old one: an old file must be well-formed by the rules of
its own layout.
"""

import json
import shlex
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol
from zlib import crc32

from arclink.errors import SealError, StoreError

if TYPE_CHECKING:  # `arclink --version` imports this module
    from pathlib import Path

    from arclink.model import Forgotten, Surt
    from arclink.store.protocols import Answers, Takedown

STORE = 4
"""The present layout of a store, in SQLite as in Cassandra; a newer ArcLink has a greater one."""

IN_CASSANDRA = 5
"""The layout of a store in Cassandra after its first load or takedown by this version.

It is `STORE` with home buckets of loads, and lists of takedowns as steps; nothing in it is old.
"""

_WITH_TITLES = 4
"""The first layout that keeps the titles of pages."""

OLDEST_STORE = 3
"""The oldest layout that is read. No version that kept older ones was released."""

KEYS = "2"
"""The present rules of keys: increased whenever a URI would get another SURT than before."""

EXTRACTOR = "4"
"""The present extractor: increased whenever a payload would give other links than before."""

TABLES = 6
"""The present layout of tables; those of another layout are made again."""

SLICES = 3
"""The present layout of slices; those of another layout are made again."""

KEYS_SETTING = "keys"
"""Name of the setting that records the rules of keys."""

EXTRACTOR_SETTING = "extractor version"
"""Name of the setting that records the extractor of the batches to come."""

EARLIER_SETTING = "earlier extractors"
"""Name of the setting that records the payloads whose links an earlier extractor has read.

JSON: by extractor, ranges of numbers of payloads.
"""

_FIRST_KEYS = "1"

_ATTACHMENTS = "attachments"
"""A rule that stores of the first versions do not have: then it is on. No option turns it on."""


class OldStoreWarning(UserWarning):
    """A store is read whose answers may lack something, because an earlier version wrote it."""


class HasSettings(Protocol):
    """What records settings: a store."""

    def setting(self, name: str) -> str | None:
        """Return a setting of the store; None if it was never set."""


class HasLayout(HasSettings, Protocol):
    """The facts that say how old a store is."""

    @property
    def layout(self) -> int: ...


def command_for(where: str) -> str:
    """Return the command that makes the layout of a store the present one."""
    return f"arclink upgrade {shlex.quote(where)}"


def settings_recorded(settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings of graph files or of a store, with the value of each that older ones lack.

    >>> settings_recorded({"rules": "{}"})
    {'rules': '{}', 'keys': '1', 'unwrapped wayback': 'null'}
    """
    recorded = dict(settings)
    if "rules" in recorded:
        recorded.setdefault(KEYS_SETTING, _FIRST_KEYS)
        recorded.setdefault("unwrapped wayback", "null")
    return recorded


def have_present_keys(settings: Mapping[str, str]) -> bool:
    """Return whether what was built with some settings has present keys."""
    return settings_recorded(settings).get(KEYS_SETTING, KEYS) == KEYS


def united_settings(
    known: Mapping[str, str], given: Mapping[str, str], where: str
) -> dict[str, str]:
    """Return the settings of a store together with those of a batch.

    Raises:
        StoreError: One of them differs.
    """
    united = settings_recorded(known)
    for name, value in settings_recorded(given).items():
        if united.setdefault(name, value) != value:
            raise StoreError(
                f"{where} was built with {name} = {united[name]}, not {value}. Use that setting, "
                "or build a new store."
            )
    return united


def setting_of(store: HasSettings, name: str) -> str | None:
    """Return a setting of a store, by its build if it does not record it."""
    names = ("rules", name)
    known = {one: value for one in names if (value := store.setting(one)) is not None}
    return settings_recorded(known).get(name)


def present_settings(store: HasLayout, payloads: int) -> dict[str, str]:
    """Return the settings of a store that an upgrade changes; empty if it records none.

    Args:
        store: The store, before the upgrade.
        payloads: The greatest number of a payload in it.
    """
    rules = store.setting("rules")
    if rules is None:
        return {}
    settings = {
        KEYS_SETTING: KEYS,
        EXTRACTOR_SETTING: EXTRACTOR,
        "rules": _dumped({_ATTACHMENTS: False} | json.loads(rules)),
        "unwrapped wayback": setting_of(store, "unwrapped wayback") or "null",
    }
    extractor = store.setting(EXTRACTOR_SETTING)
    earlier = earlier_links(store)
    has_old_pages = extractor != EXTRACTOR or not keeps_titles(store)
    if extractor is not None and has_old_pages and payloads:
        last = max((last for ranges in earlier.values() for _, last in ranges), default=0)
        earlier = {**earlier, extractor: [(last + 1, payloads)]}
    return settings | ({EARLIER_SETTING: _dumped(earlier)} if earlier else {})


def keeps_titles(store: HasLayout) -> bool:
    """Return whether the layout of a store has the titles of pages."""
    return store.layout >= _WITH_TITLES


def earlier_links(store: HasSettings) -> dict[str, list[tuple[int, int]]]:
    """Return the payloads whose links an earlier extractor has read.

    Returns:
        By extractor, sorted ranges of numbers of payloads, first and last.
    """
    found = json.loads(store.setting(EARLIER_SETTING) or "{}")
    return {
        extractor: [(first, last) for first, last in ranges] for extractor, ranges in found.items()
    }


def without_payloads(
    earlier: Mapping[str, Iterable[tuple[int, int]]], last: int, left: Iterable[int]
) -> str:
    """Return the value of `EARLIER_SETTING` after payloads were read again.

    Args:
        earlier: From `earlier_links`.
        last: The greatest number of a payload that was tried.
        left: The numbers up to it of payloads that could not be read, sorted.

    >>> without_payloads({"2": [(1, 9)]}, 6, [2, 3, 5])
    '{"2":[[2,3],[5,5],[7,9]]}'
    """
    changed = {}
    numbers = list(left)
    for extractor, ranges in earlier.items():
        kept: list[tuple[int, int]] = []
        for first, end in ranges:
            rest = [(number, number) for number in numbers if first <= number <= min(end, last)]
            for low, high in [*rest, *([(max(first, last + 1), end)] if end > last else [])]:
                if kept and kept[-1][1] + 1 == low:
                    kept[-1] = (kept[-1][0], high)
                else:
                    kept.append((low, high))
        if kept:
            changed[extractor] = kept
    return _dumped(changed)


def _dumped(values: Mapping[str, object]) -> str:
    return json.dumps(values, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def check_layout(where: str, layout: int, newest: int = STORE) -> None:
    """Check that a store can be read.

    Args:
        where: Its path or URL.
        layout: Its layout.
        newest: The newest layout of its kind.

    Raises:
        StoreError: Its layout is newer than this version, or older than any that was released.
    """
    if layout > newest:
        raise StoreError(
            f"{where} was written by a newer ArcLink (store layout {layout}, this one reads "
            f"{OLDEST_STORE} to {newest}). Use that version."
        )
    if layout < OLDEST_STORE:
        raise StoreError(
            f"{where} has the store layout {layout}, which no released ArcLink wrote; this one "
            f"reads {OLDEST_STORE} to {newest}. Build it again from its archive files: arclink "
            "build INPUT... --store NEW"
        )


def age_of(store: HasLayout, *, with_links: bool = True) -> str:
    """Return the old facts about a store, in words; empty if all is present.

    A store without batches and settings is never old in its keys and links.

    Args:
        store: The store.
        with_links: Whether the rules and the extractor by which pages were read count, too.
    """
    found = []
    if store.layout < STORE:
        found.append(f"store layout {store.layout}, now {STORE}")
    of_keys = (KEYS_SETTING, KEYS, "rules of keys")
    of_links = (EXTRACTOR_SETTING, EXTRACTOR, "links of extractor")
    for name, present, words in (of_keys, of_links)[: 1 + with_links]:
        value = setting_of(store, name)
        if value is not None and value != present:
            found.append(f"{words} {value}, now {present}")
    rules = store.setting("rules")
    if with_links and rules is not None and _ATTACHMENTS not in json.loads(rules):
        found.append("rules without attachments")
    return "; ".join(found)


def check_present(store: HasLayout, where: str, *, reads_pages: bool = True) -> None:
    """Check that something can be added to a store.

    Args:
        store: The store.
        where: Its path or URL.
        reads_pages: Whether pages are read for it; graph files may be of an earlier extractor.

    Raises:
        StoreError: It is old.
    """
    if age := age_of(store, with_links=reads_pages):
        raise StoreError(
            f"{where} was written by an earlier ArcLink ({age}). It answers, can be backed up, and "
            "forgets captures as it is; before anything is added, bring it up to date: "
            f"{command_for(where)}"
        )


def warn_of_old_keys(store: HasLayout, where: str) -> None:
    """Warn if a query may find nothing because of the keys of a store."""
    if not keys_of(store).are_present:
        warnings.warn(
            f"{where} was written by an earlier ArcLink ({age_of(store)}). Queries for some URIs "
            "find nothing: those with escaped delimiters such as %26, those of hosts such as "
            f"www.gov.uk, and records such as urn:text:URI. Bring it up to date: "
            f"{command_for(where)}",
            OldStoreWarning,
            stacklevel=3,
        )


class Keys:
    """The rules by which a store makes keys, and how to find captures in it.

    Args:
        rules: Their number.
    """

    def __init__(self, rules: str) -> None:
        from arclink.uris.surts import cdx_key, surt_of

        # Rules 1 are those of CDX files: the package surt, without the exceptions of rules 2.
        self.of: Callable[[str], Surt] = cdx_key if rules == _FIRST_KEYS else surt_of
        self._present_key = surt_of
        self.are_present = rules == KEYS

    def has(self, what: "Forgotten", key: str, uri: str) -> bool:
        """Return whether a capture or target is in a part of the web.

        In a store with old keys, it is if either its key there or its present key is: a user may
        have read the one or the other.

        Args:
            what: The part.
            key: In the store.
            uri: The URI that has this key.
        """
        return what.has(key) or (not self.are_present and what.has(self._present_key(uri)))

    def prefixes(self, what: "Forgotten") -> tuple["Surt", ...]:
        """Return the beginnings of all keys in the store of what is in a part of the web.

        In a store with old keys, other things may have keys with these beginnings, too (`has`).
        """
        from arclink.model import Surt
        from arclink.uris.surts import wide_cdx_prefixes

        if self.are_present:
            return (what.prefix,)
        # Escapes that rules 1 undo may change the order of a query, or the folders of a path: so
        # all keys of the host are read.
        host = what.prefix.partition(")")[0]
        wide = wide_cdx_prefixes([Surt(host)])
        outer: list[Surt] = []
        for prefix in sorted({what.prefix, *wide}):
            if not outer or not prefix.startswith(outer[-1]):
                outer.append(prefix)
        return tuple(outer)


def keys_of(store: HasSettings) -> Keys:
    """Return the rules of the keys of a store; the present ones if it records nothing."""
    return Keys(setting_of(store, KEYS_SETTING) or KEYS)


_ESCAPES = {"&": "%26", "+": "%2b", ";": "%3b", "=": "%3d", "/": "%2f", "?": "%3f"}
_MOST_ESCAPED = 6
"""Most delimiters of a prefix of which each is tried as an escape, too."""


def present_takedowns(store: "Answers", takedowns: "Iterable[Takedown]") -> "list[Takedown]":
    """Return takedowns of a store with further ones: those that present keys need for the same.

    A store with present keys needs no others.
    """
    if keys_of(store).are_present:
        return list(takedowns)
    return for_present_keys(takedowns, partial(_present_hosts, store))


def for_present_keys(
    takedowns: "Iterable[Takedown]", hosts_under: Callable[[str], Iterable[str]] = lambda host: ()
) -> "list[Takedown]":
    """Return takedowns of old keys, and those of present keys for the same pages.

    Args:
        takedowns: The takedowns.
        hosts_under: As for `present_prefixes`.
    """
    return [
        replace(takedown, what=replace(takedown.what, prefix=prefix))
        for takedown in takedowns
        for prefix in present_prefixes(takedown.what.prefix, hosts_under)
    ]


def _present_hosts(store: "Answers", host: str) -> set[str]:
    """Return the hosts in present keys of captures and targets that a store has under one host."""
    from arclink.model import Surt
    from arclink.uris.surts import surt_of

    return {
        surt_of(uri).partition(")")[0]
        for surt in store.surts(Surt(f"{host})"))
        for uris in (
            (memento.original for memento in store.mementos(surt)),
            (link.target for link in store.inlinks(surt)),
        )
        for uri in uris
    }


def present_prefixes(
    prefix: "Surt", hosts_under: Callable[[str], Iterable[str]] = lambda host: ()
) -> "tuple[Surt, ...]":
    """Return the prefixes of present keys that together have all that a prefix of rules 1 has.

    Rules 1 removed ``www`` and digits from every host, and undid the escapes of delimiters, so one
    key of theirs may be several now. Not found are URIs whose path had an escaped delimiter next to
    a slash or a dot, and those with more than 6 delimiters of which some are escaped.

    Args:
        prefix: Of keys by rules 1.
        hosts_under: Returns the known hosts in present keys whose key by rules 1 is that of a host.

    >>> from arclink.model import Surt
    >>> present_prefixes(Surt("org,example)/")), present_prefixes(Surt("org,a)/b&c"))
    (('org,example)/',), ('org,a)/b&c', 'org,a)/b%26c'))
    >>> present_prefixes(Surt("com)/a"), lambda host: ["com,www12"])
    ('com)/a', 'com,www)/a', 'com,www12)/a')
    """
    from itertools import product

    from arclink.model import Surt
    from arclink.uris.hosts import Host, is_public_suffix
    from arclink.uris.surts import record_of_page, surt_of

    if record_of_page(prefix):
        return (prefix, surt_of(prefix))
    host, bracket, path = prefix.partition(")")
    if not bracket:
        return (prefix,)
    labels, colon, port = host.partition(":")
    name = Host(".".join(reversed(labels.split(","))))
    hosts = [host]
    # No `www` of another host is part of its name (`arclink.uris.surts`).
    if "," not in labels or is_public_suffix(name) or name.replace(".", "").isdigit():
        hosts = list(
            dict.fromkeys([host, f"{labels},www{colon}{port}", *sorted(hosts_under(host))])
        )
    begin, rest = path[:1], path[1:]
    parts = [(sign, _ESCAPES[sign]) if sign in _ESCAPES else (sign,) for sign in rest]
    paths = [rest]
    if sum(len(part) > 1 for part in parts) <= _MOST_ESCAPED:
        paths = ["".join(chosen) for chosen in product(*parts)]
    return tuple(Surt(f"{one}){begin}{path}") for one in hosts for path in paths)


# Files next to a store, in the layouts before they were sealed


def read_old_subset(folder: "Path", name: str) -> "tuple[dict[str, Any], bytes]":
    """Return the fields of a subset that was stored before files were sealed, and its captures.

    ::

        NAME.json       the fields, as JSON
        NAME.captures   of a kept list: a first line, the CRC-32 of the captures on a line, captures

    Raises:
        SealError: A file of it is missing or damaged.
    """
    path = folder / f"{name}.json"
    fields = _old_json(path)
    if fields is None or not fields.keys() >= {"name", "text", "made", "is_kept", "ranges"}:
        raise SealError(path, "is damaged: it is not the JSON of a subset")
    if not fields["is_kept"]:
        return fields, b""
    path = folder / f"{name}.captures"
    data = _old_captures(path)
    if data is None:
        raise SealError(path, "is damaged: its captures fail their checksum")
    return fields, data


def is_old_file(path: "Path") -> bool:
    """Return whether a file next to a store is well-formed in a layout without seals.

    Of files that are made again from the store, those without any checksum are old.
    """
    from arclink.store.seals import unsealed

    try:
        data = path.read_bytes()
    except OSError:
        return False
    match path.suffix:
        case ".captures":
            return _old_captures(path) is not None
        case ".json" if path.parent.suffix == ".subsets":
            return _old_json(path) is not None
        case ".forgotten":
            return _is_old_list(data)
    if path.parent.suffix == ".subsets" or data.startswith(b"#arclink "):
        return False
    if path.name == "checksums.txt":
        return data[-9:] == b"%08x\n" % crc32(data[:-9])
    if path.name.startswith("document-frequencies"):
        return unsealed(data, b"") is not None
    sealed = (folder / "checksums.txt" for folder in path.parents)
    return ".slices" in {folder.suffix for folder in path.parents} and not any(
        sums.exists() for sums in sealed
    )


def read_old_backup(folder: "Path") -> "list[str] | None":
    """Return the batches of a backup of graph files that was made before files were sealed.

    Returns:
        The names of their folders, in the order they were loaded; None if it is no such backup.
    """
    try:
        names = json.loads((folder / "batches.json").read_bytes())
    except (OSError, ValueError):
        return None
    return names if isinstance(names, list) and all(isinstance(one, str) for one in names) else None


def check_old_folder(folder: "Path") -> None:
    """Check the files of a folder by checksums that are not sealed.

    Raises:
        SealError: A file is damaged or missing, or the checksums are.
    """
    sums = folder / "checksums.txt"
    if not is_old_file(sums):
        raise SealError(sums, "is damaged or missing")
    for line in sums.read_bytes()[:-9].splitlines():
        *wanted, name = line.split(b"\t", 2)
        path = folder / name.decode()
        data = path.read_bytes() if path.exists() else b""
        if wanted != [b"%08x" % crc32(data), b"%d" % len(data)]:
            raise SealError(path, f"is damaged or missing: it fails its checksum in {sums.name}")


def _is_old_list(data: bytes) -> bool:
    """Return whether each line is JSON of a takedown (`arclink.store.takedown_files`)."""
    try:
        rows = [json.loads(line) for line in data.splitlines()]
    except ValueError:
        return False
    return data.endswith(b"\n") and all(isinstance(row, dict) and "prefix" in row for row in rows)


def _old_json(path: "Path") -> "dict[str, Any] | None":
    try:
        fields = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise SealError(path, "is missing", is_missing=True) from error
    except (OSError, ValueError):
        return None
    return fields if isinstance(fields, dict) else None


def _old_captures(path: "Path") -> bytes | None:
    try:
        start, _, rest = path.read_bytes().partition(b"\n")
    except OSError:
        return None
    data = rest[9:]
    is_whole = start == b"ArcLink captures 1" and rest[:9] == b"%08x\n" % crc32(data)
    return data if is_whole and not len(data) % 8 else None
