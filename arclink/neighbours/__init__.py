"""Ask other instances over HTTP: all at once, within limits of time and size, and remember what they said for a while.

`http_answers` fetches one URL, `cache` remembers, `asking` puts one question to all instances and hands what they answer to
`arclink.aggregate`. Only configured instances are ever asked: no redirect is followed, no proxy of the environment used,
and nothing that came back names what is fetched next.
"""
