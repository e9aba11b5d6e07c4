"""The replay origin: a second web server that gives a browser what it needs to show old pages.

Scripts of archived pages run in the reader's browser. They must not reach the link service, so they
get an origin of their own: another listener (`arclink.service.server`). It serves four things
(`application`): the bytes of captures, a page that holds the replayed one in a frame
(`static/shell.html`), the service worker of this project (`static/worker.js`), and wabac.js, which
rewrites pages in the browser.
"""
