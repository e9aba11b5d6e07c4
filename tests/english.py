"""Phrases that readers had to read twice, and the texts that must not contain them."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PHRASES = {
    r"made[- ]up": "generated, synthetic",
    r"st(?:ands?|ood) (?:in|at|there|beside|behind|under)": "is in, is at",
    r"(?:is|are) (?-i:none)(?! of)": "is not a …, has no …",
    r"[Tt]ell(?:s|ing)? (?:whether|apart|how|what|which|when|who|why|where)": "show, report",
    r"told (?:apart|whether|how|what|which|when|who|why|where|to)": "distinguished, reported",
    r"who(?:ever)? asks?": "the caller",
    r"what (?:is|was|were|are) (?:asked|told|wanted|given)": "the query, the argument",
    r"as many as there are": "the number of",
    r"so many(?! that)": "the number of, one per …",
    r"[Ff]or what (?:it|they|is|was|the)": "a noun phrase",
    r"as (?:it was|they are|they were)": "unchanged, as written in the file",
    r"(?:no|some)body": "no reader, a user",
    r"g(?:ives?|ave|iven) back": "return, release",
    r"look (?:again|anew)|anew": "re-read, again",
    r"put aside|set aside": "spill to disk",
    r"a (?:tenth|fifth|quarter|third|half) (?:of|slower|faster|quicker|less|more)": "10 %",
    r"says? of|be said": "document, report",
    r"(?:lies?|lay) (?:in|at|there|beside|behind|elsewhere|below)": "is stored, are",
    r"beside": "next to",
    r"Returns? what": "Return the …",
    r"behind(?! (?:a|the) (?:reverse )?proxy)": "after",
    (
        r"(?-i:Read|Asked|Counted|Kept|Tried|Measured|Needed|Given|Found) " r"(?:is|are|was|were)"
    ): "subject first",
    r"makes? of (?:it|them|rows|these)": "the result of",
    r"what (?:became|becomes) of": "what happened to",
    r"(?:came|come|comes) and w?ent|came and went": "appeared and disappeared",
    r"goes on (?:where|at|with|behind)": "continues",
    r"passed over": "skipped",
}
"""Pattern of a phrase, and what to write instead."""

_PHRASE = {
    re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE): instead
    for pattern, instead in PHRASES.items()
}

_ANY_PHRASE = re.compile(rf"\b(?:{'|'.join(PHRASES)})\b")

_NO_PROSE = re.compile(r"`[^`]*`|\]\([^)]*\)|\{%.*?%\}|\{\{.*?\}\}|<[^<>]*>")
"""Code in Markdown, addresses of links, tags and instructions in templates."""


class Text(NamedTuple):
    """A piece of text, and the line where it begins."""

    line: int
    words: str


def texts_of_python(source: str) -> Iterator[Text]:
    """Yield docstrings, comments and texts of several words of a Python file."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield Text(node.lineno, node.value)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield Text(token.start[0], token.string)


def texts_of(path: Path) -> Iterator[Text]:
    """Yield the texts of a file: Python by parts, code blocks of Markdown left out."""
    source = path.read_text("utf-8")
    if path.suffix == ".py":
        yield from texts_of_python(source)
        return
    is_code = False
    for number, line in enumerate(source.splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code:
            yield Text(number, _NO_PROSE.sub(" ` ", line))


def findings(text: str) -> list[str]:
    """Return each forbidden phrase of a text with its replacement."""
    folded = re.sub(r"\s+(?:#\s)?", " ", text)
    if not _ANY_PHRASE.search(folded):
        return []
    return [
        f"{found[0]!r}: write {instead}"
        for pattern, instead in _PHRASE.items()
        for found in pattern.finditer(folded)
    ]
