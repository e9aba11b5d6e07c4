"""A second, slow extractor of links: BeautifulSoup over html5lib, with plain rules.

It shares no code, parser or pattern with `arclink.extract.html`, so that an error in one of them
shows as a difference.
"""

import re
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from bs4 import BeautifulSoup
from bs4.element import NavigableString, PageElement, PreformattedString, Tag

WHITE = "\t\n\f\r "
RESOURCES = {
    "link": ["href"],
    "img": ["src"],
    "script": ["src"],
    "iframe": ["src"],
    "frame": ["src"],
    "embed": ["src"],
    "object": ["data"],
    "video": ["src", "poster"],
    "audio": ["src"],
    "source": ["src"],
    "track": ["src"],
    **{
        name: ["background"]
        for name in ("body", "table", "thead", "tbody", "tfoot", "tr", "td", "th")
    },
}
RESOURCES_OF_SVG = {name: ["href"] for name in ("image", "use", "feimage", "script")}
SVG, MATH = "http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML"
CANDIDATES = {"link": "imagesrcset", "img": "srcset", "source": "srcset"}
LINES = re.compile(
    "address|article|aside|blockquote|br|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|header|hgroup|hr|legend|li|main|menu|nav|ol|optgroup|option|p|pre|section|summary|table|tbody|td|tfoot|th|thead|tr|ul"
)


@dataclass
class SecondPage:
    base: str | None = None
    title: str = ""
    links: list[tuple[str, str, str, str | None]] = field(default_factory=list)
    gone: Counter[str] = field(default_factory=Counter)
    """Links that lead nowhere, by the name of the reason."""


def second_extract(html: str) -> SecondPage:
    """Return the links of a page in page order."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", UserWarning
        )  # it looks like XML, like an address, …: it is a page
        soup = BeautifulSoup(html, "html5lib", multi_valued_attributes=None)
    page = SecondPage(base=find_base(soup), title=find_title(soup))
    refreshed: set[str] = set()
    for tag in soup.find_all(True):
        if tag.namespace in (SVG, MATH):
            if tag.name == "a" and has_link(tag, "href"):
                add(page, tag, "href", link_of(tag, "href"))
            is_svg = tag.namespace == SVG
            for name in RESOURCES_OF_SVG.get(tag.name.lower(), ()) if is_svg else ():
                if has_link(tag, name):
                    add(page, tag, name, link_of(tag, name))
            continue
        if tag.name == "meta" and value_of(tag, "http-equiv").lower() == "refresh":
            found = read_refresh(value_of(tag, "content"))
            kind = kind_of_refresh(tag)
            # The first takes effect; one for browsers without scripts hides only others for them.
            if found is not None and "meta@refresh" not in refreshed and kind not in refreshed:
                if kind != "template@refresh":
                    refreshed.add("meta@refresh" if kind.startswith("meta") else kind)
                for reference in found:
                    add(page, tag, "refresh", reference, kind)
        elif tag.name == "form" and tag.has_attr("action"):
            add(page, tag, "action", value_of(tag, "action"))
        elif (
            tag.name == "input" and tag.has_attr("src") and value_of(tag, "type").lower() == "image"
        ):
            add(page, tag, "src", value_of(tag, "src"))
        elif tag.name in ("blockquote", "q", "del", "ins") and tag.has_attr("cite"):
            add(page, tag, "cite", value_of(tag, "cite"))
        elif tag.name in ("a", "area") and has_link(tag, "href"):
            add(page, tag, "href", link_of(tag, "href"))
        for name in RESOURCES.get(tag.name, ()):
            if has_link(tag, name):
                add(page, tag, name, link_of(tag, name))
        if tag.has_attr("formaction") and submits(tag):
            add(page, tag, "formaction", value_of(tag, "formaction"))
        name = CANDIDATES.get(tag.name, "")
        if tag.has_attr(name):
            for reference in read_candidates(value_of(tag, name)):
                add(page, tag, name, reference)
    return page


def submits(tag: Tag) -> bool:
    kind = value_of(tag, "type").lower()
    if tag.name == "button":
        return kind not in ("button", "reset")
    return tag.name == "input" and kind in ("submit", "image")


def kind_of_refresh(tag: Tag) -> str:
    if tag.find_parent("template") is not None:
        return "template@refresh"
    if tag.find_parent("noscript") is not None:
        return "noscript@refresh"
    seconds = re.match(r"\s*(\d*)", value_of(tag, "content"), re.ASCII)
    assert seconds is not None
    is_late = bool(seconds[1]) and int(seconds[1]) > 30
    return "meta@delayed-refresh" if is_late else "meta@refresh"


HOSTS = re.compile(
    r"article|aside|blockquote|body|div|footer|h[1-6]|header|main|nav|p|section|span"
)
NO_HOSTS = re.compile(r"annotation-xml|color-profile|font-face(-.*)?|missing-glyph")


def is_hidden(tag: Tag) -> bool:
    """Return whether a tag is in a template that browsers do not make a shadow root of."""
    return not all(map(is_shadow_root, tag.find_parents("template")))


def is_shadow_root(template: Tag) -> bool:
    def asks(one: Tag) -> bool:
        return value_of(one, "shadowrootmode").lower() in ("open", "closed")

    name = template.parent.name if template.parent is not None else ""
    may_be_host = HOSTS.fullmatch(name) or ("-" in name and not NO_HOSTS.fullmatch(name))
    earlier = template.find_previous_siblings("template")
    return bool(may_be_host) and asks(template) and not any(map(asks, earlier))


def add(page: SecondPage, tag: Tag, name: str, reference: str, kind: str = "") -> None:
    reason = why_not(page, f"{tag.name.lower()}@{name}", reference)
    if reason is not None:
        page.gone[reason] += 1
        return
    text = ""
    if tag.name == "a":
        text = fold("".join(read_text(tag))) or fold(
            " ".join(value_of(image, "alt") for image in tag.find_all(["img", "input", "area"]))
        )
    elif tag.name in ("img", "area", "input"):
        text = fold(value_of(tag, "alt"))
    rel = fold(value_of(tag, "rel")).lower() if tag.name in ("a", "area", "link", "form") else ""
    if not kind:
        kind = f"{'template' if is_hidden(tag) else tag.name.lower()}@{name}"
    page.links.append((kind, reference, text[:1000].rstrip(), rel[:1000].rstrip() or None))


def why_not(page: SecondPage, kind: str, reference: str) -> str | None:
    bare = "".join(c for c in reference.strip("".join(map(chr, range(33)))) if c not in "\t\n\r")
    if bare == "":
        if kind == "form@action" or kind.endswith("@formaction"):
            return "LINK_SAME_PAGE"
        if kind not in ("a@href", "area@href", "meta@refresh") and not kind.endswith("@cite"):
            return "LINK_EMPTY"
    if bare == "" or bare.startswith("#"):
        is_own = page.base is None or kind in ("use@href", "feimage@href")
        return "LINK_SAME_PAGE" if is_own else None
    scheme = bare.partition(":")[0].lower() if ":" in bare else ""
    return {"javascript": "LINK_JAVASCRIPT", "data": "LINK_DATA", "about": "LINK_ABOUT"}.get(scheme)


def find_base(soup: BeautifulSoup) -> str | None:
    for tag in soup.find_all("base", href=True):
        if tag.find_parent("template") is None and tag.namespace not in (SVG, MATH):
            href = value_of(tag, "href")
            bare = href.strip().lower()
            return None if bare.startswith(("#", "data:", "javascript:")) or not bare else href
    return None


def find_title(soup: BeautifulSoup) -> str:
    for tag in soup.find_all("title"):
        if tag.find_parent("template") is None and tag.namespace not in (SVG, MATH):
            texts = [str(one) for one in tag.children if type(one) is NavigableString]
            return fold("".join(texts))[:1000].rstrip(" ")
    return ""


def value_of(tag: Tag, name: str) -> str:
    value = tag.get(name)
    return "" if value is None else str(value)


def has_link(tag: Tag, name: str) -> bool:
    return tag.has_attr(name) or (name == "href" and tag.has_attr("xlink:href"))


def link_of(tag: Tag, name: str) -> str:
    return value_of(tag, name if tag.has_attr(name) else "xlink:href")


def read_text(element: PageElement) -> Iterator[str]:
    """Yield what is read of an element, with a space where a line or block begins or ends."""
    if isinstance(element, Tag):
        edge = " " if LINES.fullmatch(element.name) else ""
        yield edge
        if element.name not in ("script", "style", "iframe", "noembed", "noframes", "template"):
            for child in element.children:
                yield from read_text(child)
        yield edge
    elif isinstance(element, NavigableString) and not isinstance(element, PreformattedString):
        yield str(element)


def fold(text: str) -> str:
    kept = (
        " " if c <= " " or "\x7f" <= c <= "\xa0" or c in "\u2028\u2029" else c
        for c in text
        if c not in "\ufffe\uffff"
    )
    return " ".join(word for word in "".join(kept).split(" ") if word)


def read_refresh(content: str) -> list[str] | None:
    """Walk through a refresh as the HTML Standard does, one character at a time."""
    rest = content.lstrip(WHITE)
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    if not digits and not rest.startswith("."):
        return None
    rest = rest.lstrip("0123456789.")
    if not rest:
        return []
    if rest[0] not in ";," + WHITE:
        return None
    rest = rest.lstrip(WHITE)
    if rest[:1] in (";", ","):
        rest = rest[1:].lstrip(WHITE)
    if not rest:
        return []
    if rest[0] in "uU":
        if rest[:3].lower() != "url" or not rest[3:].lstrip(WHITE).startswith("="):
            return [rest]
        rest = rest[3:].lstrip(WHITE)[1:].lstrip(WHITE)
    if rest[:1] in ("'", '"'):
        quote, rest = rest[0], rest[1:]
        rest = rest.split(quote)[0]
    return [rest]


def read_candidates(value: str) -> Iterator[str]:
    """Walk through a srcset as the HTML Standard does, one character at a time."""
    i = 0
    while True:
        while i < len(value) and value[i] in WHITE + ",":
            i += 1
        if i == len(value):
            return
        start = i
        while i < len(value) and value[i] not in WHITE:
            i += 1
        reference = value[start:i]
        descriptors = [""]
        if reference.endswith(","):
            reference = reference.rstrip(",")
        else:
            depth = 0
            while i < len(value) and (depth or value[i] != ","):
                if value[i] in WHITE and not depth:
                    descriptors.append("")
                else:
                    depth = 1 if value[i] == "(" or (depth and value[i] != ")") else 0
                    descriptors[-1] += value[i]
                i += 1
        if are_sound([descriptor for descriptor in descriptors if descriptor]):
            yield reference


def are_sound(descriptors: list[str]) -> bool:
    units = sorted(descriptor[-1] for descriptor in descriptors)
    if units not in ([], ["x"], ["w"], ["h", "w"]):
        return False
    for descriptor in descriptors:
        number = descriptor[:-1]
        if descriptor[-1] in "wh":
            if not (number.isascii() and number.isdigit() and int(number)):
                return False
        elif (
            number[:1] in ("+", "")
            or number.endswith((".", "_"))
            or number.lower().lstrip("-")[:1] not in (*"0123456789.",)
        ):
            return False
        else:
            try:
                if not 0 <= float(number) < float("inf") or "_" in number or ".e" in number.lower():
                    return False
            except ValueError:
                return False
    return True
