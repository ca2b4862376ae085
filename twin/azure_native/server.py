"""The plugin's process: a gRPC server that lives as long as the engine that started it."""

import os
import signal
import threading
from collections.abc import Sequence
from concurrent import futures
from typing import NoReturn

import grpc

from twin.azure_native.engine_log import EngineLog
from twin.azure_native.protocol import provider_pb2_grpc
from twin.azure_native.provider import Provider
from twin.azure_native.servicer import servicer

_WORKERS = 64
"""Calls served at once: the engine's parallelism is 4 times the processors, and each may wait for Azure."""
_LARGEST_MESSAGE = 400 << 20
"""Bytes; the engine's own limit."""
_PARENT_CHECK = 1.0
"""Seconds between looks whether the engine is still there."""


def main(arguments: Sequence[str]) -> NoReturn:
    """Serve until told to stop or until the engine is gone; prints the port first, as the protocol wants."""
    engine = os.getppid()
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    log = EngineLog()
    addresses = [argument for argument in arguments if not argument.startswith("-")]
    if addresses:
        log.connect(addresses[-1])
    server = _serve(log)
    while not stop.wait(_PARENT_CHECK) and os.getppid() == engine:
        pass
    server.stop(grace=None)
    # Calls may still wait for Azure; the process does not outlive its engine for them.
    os._exit(0)


def _serve(log: EngineLog) -> grpc.Server:
    limits = [
        ("grpc.max_receive_message_length", _LARGEST_MESSAGE),
        ("grpc.max_send_message_length", _LARGEST_MESSAGE),
    ]
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=_WORKERS), options=limits)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(servicer(Provider(log), log), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    return server
