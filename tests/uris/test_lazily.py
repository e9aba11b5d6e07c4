"""What the ``surt`` package imports and nobody asks for is loaded when it is asked for, and not before."""

import subprocess
import sys


def said(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def test_a_surt_needs_no_list_of_domains() -> None:
    code = "import sys; from arclink.uris.surts import surt_of; print(surt_of('http://h.org/A?b'), 'tldextract' in sys.modules)"
    assert said(code) == "org,h)/a?b False"


def test_whoever_asks_for_domains_gets_them() -> None:
    suffix = "from surt.handyurl import handyurl; url = handyurl(host=b'h.org'); url.host = 'www.h.org'; print(url.getPublicSuffix())"
    assert said(f"import arclink.uris.surts; {suffix}") == "b'h.org'"
    assert (
        said("import arclink.uris.surts, tldextract; print(tldextract.__name__, tldextract.TLDExtract.__name__)") == "tldextract TLDExtract"
    )
