"""The version of a Pulumi provider plugin, which only the running plugin tells."""

import subprocess
import threading
from pathlib import Path

_SECONDS = 10.0


def ask(path: Path) -> str:
    """Return the version that the plugin at `path` gives itself; empty when it gives none."""
    # Seconds to import, needed only where a provider is on PATH.
    import grpc
    from google.protobuf import empty_pb2
    from pulumi.runtime.proto import provider_pb2_grpc

    try:
        # The engine's address is only dialled when the plugin has something to say to it.
        plugin = subprocess.Popen(
            [path, "127.0.0.1:1"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
    except OSError:
        return ""
    # Whatever the program is, it ends.
    deadline = threading.Timer(_SECONDS, plugin.kill)
    deadline.start()
    try:
        port = int(plugin.stdout.readline()) if plugin.stdout else 0
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            stub = provider_pb2_grpc.ResourceProviderStub(channel)
            return str(stub.GetPluginInfo(empty_pb2.Empty(), timeout=_SECONDS).version)
    except (grpc.RpcError, ValueError):
        return ""
    finally:
        deadline.cancel()
        plugin.kill()
        plugin.communicate()
