"""The files and settings with which tests load batches; a process that loads imports no more."""

from arclink.store.layouts import KEYS, KEYS_SETTING
from arclink.store.protocols import KnownFile

FILES = [
    KnownFile("a.warc.gz", "/archive/a.warc.gz", 12, "f1"),
    KnownFile("b.warc.gz", "/archive/b.warc.gz", 34, "f2"),
]
SETTINGS = {"extractor": "1", "rules": '{"attachments":false}', KEYS_SETTING: KEYS}
