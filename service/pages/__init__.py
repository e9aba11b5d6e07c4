"""The page for people: a list of blocks, each with facts, a template and an address of its own.

The answers come from `arclink.access` and `arclink.analysis.questions`. `requests` parses the
request and makes addresses of other views, `blocks` serves pages, blocks and pictures; the other
modules turn answers into blocks. Pictures are SVG generated here, so that every view is complete
without a script; `static/page.js` only avoids reloading.
"""
