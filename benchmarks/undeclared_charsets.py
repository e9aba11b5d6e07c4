"""Measures how often the charset of a page without a declaration is found.

Takes a folder with one folder per language, named by its code (``de``, ``zh-hant``), of real pages
in UTF-8 that did not guide the rules, such as those in test data of public programs that read
articles. Declarations are taken out, and each page is put into the legacy charsets of its language.
What a charset does not have becomes a character reference, as in pages of that time; a page in
which that is more than 10 % of the letters is left out: no author used that charset for it. A
page counts as right if all its text is.

    python -m benchmarks.undeclared_charsets FOLDER [--short]
"""

import argparse
import re
from collections import Counter
from pathlib import Path

from arclink.extract.charsets import decode_html
from arclink.uris.encodings import decode

_LANGUAGES = {
    "windows-1252": "ca cy da de en es et eu fi fr ga gl id is it ms nl no pt sq sv sw",
    "windows-1250": "cs hr hu pl ro sk sl",
    "iso-8859-2": "cs hr hu pl ro sk sl",
    "windows-1251": "bg mk ru sr uk",
    "koi8-r": "ru",
    "koi8-u": "uk",
    "windows-1253": "el",
    "iso-8859-7": "el",
    "windows-1254": "tr",
    "windows-1255": "he",
    "windows-1256": "ar fa",
    "windows-1257": "et lt lv",
    "windows-874": "th",
    "shift_jis": "ja",
    "euc-jp": "ja",
    "iso-2022-jp": "ja",
    "euc-kr": "ko",
    "gbk": "zh-hans",
    "big5": "zh-hant",
}
"""Languages that used a charset."""

_CODECS = {
    "shift_jis": "cp932",
    "euc-kr": "cp949",
    "windows-874": "cp874",
    "iso-2022-jp": "iso2022_jp_ext",
}
_DECLARATION = re.compile(r"<meta\b[^>]*\bcharset\b[^>]*>|<\?xml\b[^>]*\?>", re.IGNORECASE)
_PARAGRAPH = re.compile(r"<p\b[^>]*>([^<]{40,})", re.IGNORECASE)
_CEDILLAS = str.maketrans("șțȘȚ", "şţŞŢ")
_MOST_REFERENCES = 0.1


def legacy(page: str, codec: str) -> bytes | None:
    """Return a page in another charset; None if it would not have been written in it."""
    letters = [sign for sign in page if sign > "\x7f" and sign.isalpha()]
    missing = sum(not sign.encode(codec, "ignore") for sign in letters)
    if missing > _MOST_REFERENCES * len(letters) or re.search("[\x80-\x9f\ufffd]", page):
        return None
    encoded = page.encode(codec, "xmlcharrefreplace")
    return None if encoded.isascii() and b"\x1b" not in encoded else encoded


def main() -> None:
    """Print the number of pages with their text by charset, and in total."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--short", action="store_true", help="one paragraph of each page")
    options = parser.parse_args()
    right, wrong, left_out = Counter[str](), Counter[str](), Counter[str]()
    for path in sorted(options.folder.glob("*/*")):
        page = _DECLARATION.sub("", path.read_text()).translate(_CEDILLAS)
        if options.short:
            found = _PARAGRAPH.search(page)
            page = f"<p>{found[1][:300]}</p><a href=index.html>Home</a>" if found else ""
        language = path.parent.name
        for charset in (name for name, used in _LANGUAGES.items() if language in used.split()):
            encoded = legacy(page, _CODECS.get(charset, charset))
            if encoded is None:
                left_out[charset] += 1
                continue
            text = decode_html(encoded, None).text
            is_right = text == decode(encoded, charset)
            (right if is_right else wrong)[charset] += 1
            if not is_right:
                print(f"wrong: {charset} {path}")
    for charset in _LANGUAGES:
        total = right[charset] + wrong[charset]
        print(f"{charset:14}{right[charset]:6} of {total:6}, {left_out[charset]} left out")
    total = right.total() + wrong.total()
    print(f"{'total':14}{right.total():6} of {total:6}: {right.total() / max(total, 1):.4f}")


if __name__ == "__main__":
    main()
