"""The temporal link graph of a web archive: who linked to a page, when, and with which words."""

__version__ = "0.1.0"
