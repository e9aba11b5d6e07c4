"""Leaves readers that do not read: an answer that waits for one holds a thread, and who holds all threads stops the service.

waitress closes connections on which nothing happens, but none that has an answer under way.
"""

from functools import partial
from typing import Any

from service.stopping import Server


def leave_who_does_not_read(server: Server, patience: float) -> None:
    """Have ``server`` close connections to which, for ``patience`` seconds, nothing of an answer that is ready could be sent."""
    ordinary = server.maintenance

    def maintenance(now: float) -> None:
        ordinary(now)
        for channel in list(server.active_channels.values()):
            if channel.total_outbufs_len and channel.last_activity < now - patience:
                # Later: the server asks for this while it collects the sockets to wait for, and a closed one would end its loop.
                server.trigger.pull_trigger(partial(_close, channel))

    server.maintenance = maintenance


def _close(channel: Any) -> None:  # Any: waitress has no types
    if channel.connected:
        channel.handle_close()
