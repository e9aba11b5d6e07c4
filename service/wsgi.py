"""The service as a WSGI application, for a WSGI server that you run yourself.

``ARCLINK_STORE=links.db gunicorn service.wsgi:application``.

`arclink serve` does not need this module: it starts its own server, which limits slow and greedy
clients.
"""

import os

from arclink.errors import UsageError
from arclink.service.application import create_app

if "ARCLINK_STORE" not in os.environ:
    raise UsageError("ARCLINK_STORE is not set: set it to the path or URL of the store to serve")

application = create_app(os.environ["ARCLINK_STORE"])
