"""The page for people: one module per view, which turns an answer into the data of its template.

The answers come from `arclink.access`. `requests` parses the request and makes addresses of other
views, `time_axis` draws the axis of time that all pictures share, and `rendering` writes the HTML.
Pictures are SVG generated here, so that every view is complete without a script;
`static/page.js` only avoids reloading.
"""
