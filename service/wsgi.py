"""The service for a WSGI server of your own.

``ARCLINK_STORE=links.db gunicorn service.wsgi:application``.

`arclink serve` needs none of this: it starts its own server, with limits for slow and greedy
clients.
"""

import os

from arclink.errors import UsageError
from arclink.service.application import create_app

if "ARCLINK_STORE" not in os.environ:
    raise UsageError("ARCLINK_STORE is not set: set it to the path or URL of the store to serve")

application = create_app(os.environ["ARCLINK_STORE"])
