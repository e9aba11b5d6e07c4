"""The page for people: one module per view, each turns an answer of `arclink.access` into what its template shows.

`asking` is what a request asks for and the addresses of other views, `drawing` the axis of time that all pictures share, `rendering` writes
the HTML. Pictures are SVG made here, so that every view is whole without a script; `static/page.js` only saves reloading.
"""
