"""The properties of a graph as an HTML page, and as the table of its numbers.

The page is one file with its style and charts. It loads nothing from other hosts and runs no
script.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from arclink.access.formats.rows import RowAnswer, csvw, saying
from arclink.access.kinds import kinds_line, others_line
from arclink.analysis.charts.svg import Points, Series, bars, log_log, percent
from arclink.analysis.matrices.properties import Degrees, PowerLaw, Properties
from arclink.analysis.matrices.slices import Slices, shorten

_DEGREE_COLUMNS = ("window", "direction", "links", "nodes")
"""Columns of the table of degrees."""

_COMPONENTS = ("core", "in", "out", "tubes", "tendrils", "apart")
"""Names of the parts of the bow-tie, as users see them."""

_MOST_POINTS = 400
"""Largest number of points of a degree distribution in a chart."""

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; color: #1d1d1f; background: #fff }
h1 { font-size: 1.7rem; margin-bottom: 0 } h2 { margin-top: 2.4rem; font-size: 1.25rem } p.about { color: #555; margin-top: .3rem }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .8rem; padding: 0; margin: 1.4rem 0 }
.facts div { border: 1px solid #ddd; border-radius: .4rem; padding: .6rem .8rem } .facts b { display: block; font-size: 1.45rem }
.facts span { color: #555; font-size: .9rem }
svg { width: 100%; height: auto; margin: .4rem 0 } svg text { font: 12px system-ui, sans-serif; fill: currentColor }
svg .grid { stroke: #888; stroke-opacity: .25 }
.wide { overflow-x: auto } table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums }
th, td { padding: .25rem .6rem; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap }
th:first-child, td:first-child { text-align: left }
tr.whole { font-weight: 600 }
@media (prefers-color-scheme: dark) {
  body { background: #16181c; color: #e8e8e8 } p.about, .facts span { color: #aaa } .facts div, th, td { border-color: #3a3d42 }
}
"""


def _as_row(found: Properties) -> dict[str, object]:
    """Return the properties of one window as a row of the table; unknown values are None."""
    row: dict[str, object] = {
        "window": found.window,
        "nodes": found.nodes,
        "captured": found.captured,
        "edges": found.edges,
        "targets": found.targets,
        "not_captured_then": found.not_captured,
        "never_captured": found.never_captured,
        "never_captured_share": _share(found.never_captured, found.targets),
        "mean_degree": _share(found.edges, found.nodes),
        "most_inlinks": found.inward.most,
        "most_outlinks": found.outward.most,
        "reciprocal": found.reciprocal,
        "reciprocity": _share(found.reciprocal, found.edges),
        "weak_components": found.weak,
        "largest_weak": found.largest_weak,
        "strong_components": found.strong,
        **dict(zip(_COMPONENTS, _component_sizes(found), strict=True)),
    }
    for name, law in (("in", found.inward.law), ("out", found.outward.law)):
        facts = (law.exponent, law.least, law.error, law.distance, law.tail) if law else (None,) * 5
        row |= {
            f"{name}_{column}": value
            for column, value in zip(
                ("exponent", "least", "error", "distance", "tail"), facts, strict=True
            )
        }
    return row


def properties_as_rows(slices: Slices, found: Sequence[Properties]) -> RowAnswer:
    """Return the properties, of the whole and of each window, as rows."""
    rows = [_as_row(one) for one in found]
    lines = [kinds_line(slices.kinds), ""]
    return RowAnswer(slices.about, lines, [*rows[0]], {"properties": rows})


def degrees_as_csv(found: Sequence[Properties]) -> str:
    """Return the distribution of degrees of each window as CSV (RFC 4180).

    After the header, there is a row per window, direction and number of links that occurs.
    """
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(_DEGREE_COLUMNS)
    for one in found:
        for direction, degrees in (("in", one.inward), ("out", one.outward)):
            pairs = zip(degrees.values.tolist(), degrees.counts.tolist(), strict=True)
            writer.writerows((one.window, direction, links, nodes) for links, nodes in pairs)
    return buffer.getvalue()


def describe_degrees(url: str, provenance: Mapping[str, object]) -> bytes:
    """Return the metadata of the file of degrees, whose address is ``url``."""
    kinds = dict(zip(_DEGREE_COLUMNS, ("string", "string", "int64", "int64"), strict=True))
    about = {
        "window": "Window of time, or all.",
        "direction": "in: links to a node; out: links of a node.",
        "links": "Number of links.",
        "nodes": "Number of nodes with that many.",
    }
    return csvw(kinds, kinds.__getitem__, about, url=url, **saying(provenance))


def as_html(slices: Slices, found: Sequence[Properties], store: str, cite: str) -> str:
    """Return the HTML page.

    Args:
        slices: The slices that the properties describe.
        found: The properties of the whole first, then of the windows.
        store: The name of the store.
        cite: A line to cite.
    """
    whole, windows = found[0], found[1:]
    names = [one.window for one in windows]
    kind = slices.level.plural
    never = _share(whole.never_captured, whole.targets)
    facts = [
        (f"{whole.nodes:,}", f"{kind}: captured, or linked to"),
        (f"{whole.edges:,}", "links between them, each pair once"),
        (f"{whole.captured:,}", "of them were captured"),
        (_percent(never), "of link targets were never captured"),
        (
            _percent(_share(_core(whole), whole.nodes)),
            "are in the core: a path of links leads from each to each",
        ),
        (
            _percent(_share(whole.reciprocal, whole.edges)),
            "of links have a link back",
        ),
    ]
    over_time = [
        "<h2>Through time</h2>",
        f"<p>How many {kind} were captured or linked to in each window, and how many links lead "
        "from one to another. Windows without bars have no captures.</p>",
        bars(
            names,
            [
                Series(kind, [one.nodes for one in windows]),
                Series("links", [one.edges for one in windows]),
            ],
        ),
        "<h2>What was never captured</h2>",
        "<p>The share of link targets that were not captured in the same window, and the share "
        "that were never captured: a reader of the archive cannot follow these links. In all, this "
        f"is {_percent(never)} of {whole.targets:,} targets.</p>",
        bars(
            names,
            [
                Series(
                    "never captured", [_share(one.never_captured, one.targets) for one in windows]
                ),
                Series(
                    "not captured in the window",
                    [_share(one.not_captured, one.targets) for one in windows],
                ),
            ],
            is_share=True,
        ),
    ]
    tie = [
        "<h2>The bow-tie</h2>",
        "<p>The <i>core</i> is the largest set in which a path of links leads from each node to "
        "each other. Paths lead from <i>in</i> to the core, and from the core to <i>out</i>. "
        "<i>Tubes</i> connect in and out without the core, <i>tendrils</i> hang on any of these, "
        "and <i>apart</i> nodes have no connection with them. An archive does not know the links "
        "of pages that it did not capture: these can only be out, in a tendril, or apart.</p>",
        *_bow_ties(found, kind),
    ]
    degrees = [
        "<h2>Degrees</h2>",
        "<p>The share of nodes with at least this number of links, over all time. A straight line "
        "is a power law; the dashed one is the law that fits best (exponent by maximum likelihood, "
        "start by the smallest Kolmogorov-Smirnov distance: Clauset, Shalizi and Newman 2009).</p>",
        _degrees_of("Links to a node", whole.inward),
        _degrees_of("Links of a node", whole.outward),
    ]
    body = [
        "<h1>The link graph</h1>",
        f'<p class="about">{escape(store)}, '
        f"{f'{names[0]} to {names[-1]}' if names else 'all time'}; a node is a "
        f"{slices.level.value}, "
        f"links of a node to itself do not count. {escape(kinds_line(slices.kinds))}</p>",
        *_no_links_of_kinds(slices, whole),
        '<div class="facts">'
        + "".join(f"<div><b>{number}</b><span>{text}</span></div>" for number, text in facts)
        + "</div>",
        *(over_time if windows else []),
        *tie,
        *degrees,
        "<h2>The table</h2>",
        _table(found),
        f'<p class="about">To cite: {escape(cite)}</p>',
    ]
    title = f"The link graph of {escape(store)}"
    head = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta '
        'name="viewport" content="width=device-width">'
    )
    return (
        f"{head}\n<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


def _no_links_of_kinds(slices: Slices, whole: Properties) -> Sequence[str]:
    """Return a paragraph if there are links, but none of the kinds that count; else nothing."""
    if whole.edges or not slices.other_kinds:
        return []
    return [f"<p>{escape(others_line(slices.kinds, slices.other_kinds))}</p>"]


def _bow_ties(found: Sequence[Properties], kind: str) -> Sequence[str]:
    """Return a chart if any window has a core, and a sentence about the windows without one."""
    without = [one.window for one in found if one.nodes and not _core(one)]
    about_missing = (
        [
            (
                f"<p>No core, and so no bow-tie: there are no two {kind} lead to each other in "
                f"{escape(shorten(without))}.</p>"
            )
        ]
        if without
        else []
    )
    if not any(map(_core, found)):
        return about_missing
    shares = [
        Series(
            name,
            [
                _share(_component_sizes(one)[index], one.nodes) if _core(one) else None
                for one in found
            ],
        )
        for index, name in enumerate(_COMPONENTS)
    ]
    return [
        bars([one.window for one in found], shares, is_share=True, is_stacked=True),
        *about_missing,
    ]


def _core(found: Properties) -> int:
    """Return the number of nodes in the core; 0 if no two nodes lead to each other."""
    return found.bow_tie.core if found.bow_tie.core > 1 else 0


def law_in_words(law: PowerLaw | None) -> str:
    """Return a power law as a sentence."""
    if law is None:
        return "Too few nodes for a power law."
    return (
        f"Exponent {law.exponent:.2f} ± {law.error:.2f} from {law.least:,} on, which {law.tail:,} "
        f"nodes reach; distance between law and data {law.distance:.3f}."
    )


def _degrees_of(title: str, degrees: Degrees) -> str:
    positive = degrees.values > 0
    values, counts = degrees.values[positive], degrees.counts[positive]
    nodes = int(degrees.counts.sum())
    if not len(values):
        return ""
    shares = counts[::-1].cumsum()[::-1] / nodes
    drawn = range(0, len(values), max(1, len(values) // _MOST_POINTS))
    series = [Points(title, [(float(values[index]), float(shares[index])) for index in drawn])]
    law = degrees.law
    if law:
        at = np.unique(np.geomspace(law.least, max(law.least + 1, int(values[-1])), 50).round())
        shares = law.share_from(at) * law.tail / nodes
        series.append(
            Points("power law", list(zip(at.tolist(), shares.tolist(), strict=True)), is_line=True)
        )
    return (
        log_log(series, "links", "share of nodes")
        + f"<p>{law_in_words(law)} The most are {degrees.most:,}.</p>"
    )


def _table(found: Sequence[Properties]) -> str:
    columns = [
        "window",
        "nodes",
        "captured",
        "edges",
        "targets",
        "never captured",
        "share",
        "reciprocity",
        *_COMPONENTS,
    ]
    lines = ["<tr>" + "".join(f"<th>{column}</th>" for column in columns) + "</tr>"]
    windows = [one for one in found[1:] if one.nodes]
    for one in [*windows, found[0]]:
        cells = [
            f"{number:,}"
            for number in (one.nodes, one.captured, one.edges, one.targets, one.never_captured)
        ]
        cells += [
            _percent(_share(one.never_captured, one.targets)),
            _percent(_share(one.reciprocal, one.edges)),
        ]
        cells += [f"{number:,}" for number in _component_sizes(one)]
        row = ' class="whole"' if one is found[0] else ""
        lines.append(
            f"<tr{row}><td>{escape(one.window)}</td>"
            + "".join(f"<td>{cell}</td>" for cell in cells)
            + "</tr>"
        )
    empty = len(found) - 1 - len(windows)
    about_empty = f"<p>{empty:,} windows without captures are left out.</p>" if empty else ""
    return f'<div class="wide"><table>{"".join(lines)}</table></div>{about_empty}'


def _component_sizes(found: Properties) -> tuple[int, ...]:
    tie = found.bow_tie
    return tie.core, tie.coming, tie.going, tie.tubes, tie.tendrils, tie.apart


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _percent(share: float | None) -> str:
    return "-" if share is None else percent(share)
