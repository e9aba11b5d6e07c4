"""A headless Firefox, driven by Marionette, the protocol that every Firefox answers.

Playwright drives only a Firefox of its own or one that is newer than the extended support release,
and the client on the package index needs a module that Python no longer has.

Source: Firefox source docs, *Marionette*, *Protocol*; W3C, *WebDriver* (names of commands).
"""

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

PREFERENCES: Mapping[str, bool | int | str] = {
    "app.normandy.enabled": False,
    "app.update.auto": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.safebrowsing.update.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.systemAddon.update.enabled": False,
    "marionette.port": 0,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,",
    "toolkit.telemetry.enabled": False,
}
"""What Firefox does by itself over the network is switched off."""

START_SECONDS = 60


class FirefoxError(Exception):
    """A command failed."""


class Firefox:
    """A tab of a Firefox."""

    def __init__(self, port: int) -> None:
        self._connection = socket.create_connection(("127.0.0.1", port), timeout=120)
        self._stream = self._connection.makefile("rb")
        self._commands = 0
        self._read()  # the greeting
        self._ask("WebDriver:NewSession")

    def close(self) -> None:
        with suppress(OSError, ValueError):
            self._ask("Marionette:Quit", flags=["eForceQuit"])
        self._stream.close()
        self._connection.close()

    def goto(self, address: str) -> None:
        self._ask("WebDriver:SwitchToFrame", id=None)
        self._ask("WebDriver:Navigate", url=address)

    def evaluate(self, expression: str, depth: int = 0) -> object:
        """Return the value of an expression in the top window, or in a first frame inside it.

        Args:
            expression: JavaScript; a promise is waited for.
            depth: Number of frames around the window.

        Raises:
            FirefoxError: There is no such frame, or the script failed.
        """
        self._ask("WebDriver:SwitchToFrame", id=None)
        for _ in range(depth):
            self._ask("WebDriver:SwitchToFrame", id=0)
        script = (
            f"const done = arguments[arguments.length - 1]; Promise.resolve({expression})"
            ".then(done, error => done(String(error)))"
        )
        return self._ask("WebDriver:ExecuteAsyncScript", script=script, args=[])

    def wait(self, seconds: float) -> None:
        time.sleep(seconds)

    def _ask(self, name: str, **parameters: object) -> object:
        self._commands += 1
        text = json.dumps([0, self._commands, name, parameters]).encode()
        self._connection.sendall(b"%d:%s" % (len(text), text))
        answer = self._read()
        assert isinstance(answer, list)
        _, _, error, result = answer
        if error:
            raise FirefoxError(f"{name}: {error['error']}: {error['message']}")
        return result.get("value") if isinstance(result, dict) else result

    def _read(self) -> object:
        length = b""
        while not length.endswith(b":"):
            sign = self._stream.read(1)
            if not sign:
                raise FirefoxError("Firefox has ended")
            length += sign
        answer: object = json.loads(self._stream.read(int(length[:-1])))
        return answer


@contextmanager
def firefox(
    program: str, folder: Path, preferences: Mapping[str, bool | int | str] = PREFERENCES
) -> Iterator[Firefox]:
    """Run a Firefox with an empty profile in ``folder`` until the block ends."""
    lines = [f'user_pref("{name}", {json.dumps(value)});' for name, value in preferences.items()]
    (folder / "user.js").write_text("\n".join(lines))
    command = [
        program,
        "--marionette",
        "--headless",
        "--no-remote",
        "--profile",
        str(folder),
    ]
    environment = {**os.environ, "MOZ_DISABLE_CONTENT_SANDBOX": "1", "HOME": str(folder)}
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(command, stdout=log, stderr=log, env=environment) as process,
    ):
        try:
            tab = Firefox(_port(folder, process))
            try:
                yield tab
            finally:
                tab.close()
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def _port(folder: Path, process: subprocess.Popen[bytes]) -> int:
    until = time.monotonic() + START_SECONDS
    port_file = folder / "MarionetteActivePort"
    while time.monotonic() < until and process.poll() is None:
        if port_file.exists() and port_file.read_text().strip():
            return int(port_file.read_text())
        time.sleep(0.1)
    raise FirefoxError(f"Firefox did not start: {(folder / 'log').read_text()[-2000:]}")
