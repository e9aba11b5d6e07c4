"""The HTTP addresses of the NameNodes of an HDFS.

They are in the address itself (``webhdfs://namenode:9870/path``), in the variable
``ARCLINK_WEBHDFS``, or in Hadoop's own settings, which also name highly available NameNodes.

Source: https://hadoop.apache.org/docs/stable/hadoop-project-dist/hadoop-hdfs/HDFSHighAvailabilityWithQJM.html
"""

import os
from collections.abc import Mapping
from xml.etree import ElementTree

from arclink.errors import InputError
from arclink.network.addresses import parse_server_address

ADDRESS = "ARCLINK_WEBHDFS"
"""The environment variable with the HTTP addresses of the NameNodes, separated by commas."""

SETTINGS = "HADOOP_CONF_DIR"
"""The environment variable with the folder of Hadoop's settings."""

_ENCRYPTED = ("https", "swebhdfs")
_PORTS = {False: 9870, True: 9871}
"""Hadoop's ports for HTTP, and with encryption."""


def uses_webhdfs(location: str) -> bool:
    """Return whether a location is in HDFS and is read over HTTP.

    If no HTTP address of a NameNode is known, fsspec's driver reads ``hdfs://``.
    """
    scheme = location.partition("://")[0].lower()
    return scheme in ("webhdfs", "swebhdfs") or (
        scheme == "hdfs" and bool(os.environ.get(ADDRESS) or _configured(_authority(location)))
    )


def known_name_nodes() -> str:
    """Return the HTTP addresses of the NameNodes of the default HDFS, as in `ADDRESS`, if known."""
    return os.environ.get(ADDRESS) or ",".join(_configured(""))


def name_nodes(url: str) -> tuple[str, ...]:
    """Return the HTTP addresses of the NameNodes for an address; the first one is asked first.

    Raises:
        InputError: It is no address; or it begins with ``hdfs://``, and neither the variable nor
            Hadoop's settings have the HTTP address of its NameNode.
    """
    authority = _authority(url)
    if url.partition("://")[0].lower() == "hdfs":
        named = os.environ.get(ADDRESS, "")
        addresses = [part for part in map(str.strip, named.split(",")) if part]
        addresses = addresses or _configured(authority)
    else:
        named = ""
        addresses = _highly_available(_settings(), authority) or [url]
    try:
        if not addresses:
            raise ValueError("it is not set")
        return tuple(map(_http_address, addresses))
    except ValueError as error:
        if named or not addresses:
            wrong = f"{ADDRESS} is not the HTTP address of its NameNode ({error})"
            advice = f"set it to one such as http://namenode:9870, or {SETTINGS} to the folder"
            raise InputError(f"{url}: {wrong}; {advice} of Hadoop's settings") from error
        advice = "use webhdfs://namenode:9870/path"
        raise InputError(f"{url}: not an address: {error}; {advice}") from error


def _http_address(text: str) -> str:
    address = parse_server_address(text)
    is_encrypted = address.scheme in _ENCRYPTED
    port = address.port or _PORTS[is_encrypted]
    return f"http{'s' if is_encrypted else ''}://{address.host}:{port}"


def _authority(url: str) -> str:
    return url.partition("://")[2].partition("/")[0]


def _configured(authority: str) -> list[str]:
    """Return the HTTP addresses that Hadoop's settings have for the authority of an address.

    An address without authority means the file system that the settings name as the default.
    """
    settings = _settings()
    default = _authority(settings.get("fs.defaultFS", ""))
    if found := _highly_available(settings, authority or default):
        return found
    if authority in ("", default) and settings.get("fs.defaultFS", "").startswith("hdfs://"):
        return [address] if (address := _address_in(settings, "")) else []
    return []


def _highly_available(settings: Mapping[str, str], service: str) -> list[str]:
    """Return the HTTP addresses of the NameNodes of a name service; empty for other names."""
    names = settings.get(f"dfs.ha.namenodes.{service}", "").split(",") if service else []
    found = (_address_in(settings, f".{service}.{name.strip()}") for name in names if name.strip())
    return [address for address in found if address]


def _address_in(settings: Mapping[str, str], suffix: str) -> str:
    is_encrypted = settings.get("dfs.http.policy", "") == "HTTPS_ONLY"
    scheme = "https" if is_encrypted else "http"
    address = settings.get(f"dfs.namenode.{scheme}-address{suffix}", "")
    # Hadoop's default is an address for listening only.
    return f"{scheme}://{address}" if address and not address.startswith("0.0.0.0") else ""


def _settings() -> Mapping[str, str]:
    """Return the properties in Hadoop's settings for HDFS; empty if their folder is not known.

    Raises:
        InputError: A file is not XML.
    """
    folder = os.environ.get(SETTINGS)
    found: dict[str, str] = {}
    for name in ("core-site.xml", "hdfs-site.xml") if folder else ():
        path = os.path.join(folder or "", name)
        try:
            properties = ElementTree.parse(path).getroot().iter("property")
        except OSError:
            continue
        except ElementTree.ParseError as error:
            raise InputError(f"{path}: not a file of Hadoop's settings: {error}") from error
        for property_ in properties:
            found[(property_.findtext("name") or "").strip()] = (
                property_.findtext("value") or ""
            ).strip()
    return found
