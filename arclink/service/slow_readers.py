"""Closing of connections whose clients read nothing of their answer, or too little.

An answer that is being made holds a thread. Waitress lets it wait for its reader without limit, so
a few readers that take nothing, or a byte now and then, would hold all threads. Waitress itself
closes only connections without an answer.
"""

from functools import partial
from typing import Any

from arclink.service.shutdown import Server


def leave_who_does_not_read(server: Server, patience: float, slowest: float) -> None:
    """Make ``server`` close connections whose readers take too little of a ready answer.

    Args:
        server: Not running yet.
        patience: Seconds after which a reader that takes nothing is disconnected.
        slowest: Minimum bytes per second on average over ``patience``. A reader that takes less is
            disconnected if its answer still holds a thread.
    """
    ordinary = server.maintenance

    def maintenance(now: float) -> None:
        ordinary(now)
        for channel in list(server.active_channels.values()):
            is_silent = channel.total_outbufs_len and channel.last_activity < now - patience
            if is_silent or channel.reads_too_slowly(now, patience, slowest):
                # Later: this runs while the server collects the sockets to wait for, and a socket
                # closed here would end its loop.
                server.trigger.pull_trigger(partial(_close, channel))

    server.maintenance = maintenance


def _close(channel: Any) -> None:  # Any: waitress has no types
    if channel.connected:
        channel.handle_close()
