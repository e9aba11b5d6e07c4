"""Options of ``build`` and ``extract`` that say where links are looked for."""

from arclink.access.declarations import AnyParameter, switch

LAZY = switch(
    "lazy",
    "Also extract the data- attributes of lazy loading, such as data-src.",
    "explanation/data-model.md#kinds-of-links",
)
HERITRIX_OUTLINKS = switch(
    "heritrix-outlinks", "Add the links that Heritrix recorded for a page.", "reference/heritrix.md"
)
SOURCES: tuple[AnyParameter, ...] = (LAZY, HERITRIX_OUTLINKS)
