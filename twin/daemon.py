"""The one long-lived process of a twin: the Azure endpoint and the machines behind it.

Run as `python -m twin.daemon NAME`; started and stopped by `twin.lifecycle`.
"""

import fcntl
import json
import logging
import signal
import ssl
import sys
import threading
from types import FrameType

import psutil
import uvicorn

from twin.arm import create_app
from twin.errors import TwinError
from twin.files import read_object, replace_text
from twin.machines import Machines
from twin.paths import TwinFolder

_LOG = logging.getLogger("twin")
_TEND_SECONDS = 0.5


def main(name: str) -> int:
    """Run the twin `name` until it gets SIGTERM or SIGINT; returns the exit code."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("httpx2").setLevel(logging.WARNING)  # a line per request to Kubernetes otherwise
    folder = TwinFolder.of(name)
    try:
        with folder.daemon_lock.open("w") as lock:
            _hold(lock.fileno(), name)
            _serve(folder)
    except TwinError as error:
        _LOG.error("%s", error)
        return 2
    except Exception as error:  # noqa: BLE001 - the last resort; the starting command shows the last line
        _LOG.info("the traceback of what follows:", exc_info=error)
        _LOG.error(
            "It met something unexpected: %s: %s. The log has the details: %s", type(error).__name__, error, folder.log
        )
        return 2
    return 0


def _hold(descriptor: int, name: str) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise TwinError(f"The twin '{name}' is already running.") from error


def _serve(folder: TwinFolder) -> None:
    port = int(read_object(folder.settings)["port"])
    tools = {link.name: link.resolve() for link in folder.bin.iterdir()}  # as the starting command found them
    machines = Machines(folder, tools)
    server = _server(folder, machines, port)
    me = psutil.Process()
    replace_text(folder.daemon, json.dumps({"pid": me.pid, "started": me.create_time()}))
    stopping = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the shape of a signal handler
        stopping.set()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    try:
        machines.resume()
        endpoint = threading.Thread(target=server.run, name="azure-endpoint")
        endpoint.start()
        while not stopping.wait(_TEND_SECONDS) and endpoint.is_alive():
            _tend(machines)
        server.should_exit = True
        endpoint.join()
    finally:
        machines.stop()
        folder.daemon.unlink(missing_ok=True)


def _tend(machines: Machines) -> None:
    try:
        for line in machines.tend():
            _LOG.warning("%s", line)
    except (TwinError, OSError, ValueError) as error:
        _LOG.warning("could not look after the control planes: %s", error)


def _server(folder: TwinFolder, machines: Machines, port: int) -> uvicorn.Server:
    """Return the HTTPS server of the Azure endpoint, on loopback only."""
    config = uvicorn.Config(
        create_app(folder, machines),
        host="127.0.0.1",
        port=port,
        ssl_certfile=folder.server_certificate,
        ssl_keyfile=folder.server_certificate,
        ssl_version=ssl.PROTOCOL_TLS_SERVER,
        access_log=False,
        log_config=None,
        lifespan="on",
        timeout_graceful_shutdown=2,
        timeout_keep_alive=60,
    )
    return uvicorn.Server(config)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
