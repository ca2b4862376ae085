"""Messages to the engine: progress of an operation, shown beside its resource."""

import contextlib

import grpc

from twin.azure_native.protocol import engine_pb2, engine_pb2_grpc

_TIMEOUT = 5.0


class EngineLog:
    """The engine's log; silent when the plugin was started without an engine."""

    def __init__(self) -> None:
        self._engine: engine_pb2_grpc.EngineStub | None = None
        self._shown: dict[str, str] = {}

    def connect(self, address: str) -> None:
        """Use the engine at `host:port` from now on."""
        self._engine = engine_pb2_grpc.EngineStub(grpc.insecure_channel(address))

    def status(self, urn: str, message: str) -> None:
        """Show a passing status of a resource, unless it shows already."""
        if self._shown.get(urn) == message:
            return
        self._shown[urn] = message
        self._log(engine_pb2.LogRequest(severity=engine_pb2.INFO, message=message, urn=urn, ephemeral=True))

    def debug(self, message: str) -> None:
        """Leave a message that `pulumi --debug` shows."""
        self._log(engine_pb2.LogRequest(severity=engine_pb2.DEBUG, message=message))

    def _log(self, request: engine_pb2.LogRequest) -> None:
        if self._engine is not None:
            # An engine that has gone away is no reason to give up the operation.
            with contextlib.suppress(grpc.RpcError):
                self._engine.Log(request, timeout=_TIMEOUT)
