"""The gRPC code generated for Pulumi's protocol, loaded without the rest of the Pulumi SDK.

The engine starts this plugin once per provider and command. Importing `pulumi.runtime.proto` the ordinary way
runs `pulumi/__init__.py` first, which costs more than everything else the plugin does at start. So while the
generated modules load, empty packages stand in for `pulumi` and `pulumi.runtime`; they are taken away
afterwards, and a later `import pulumi` gets the real SDK. A process that already has it simply uses it.
"""

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from twin.errors import TwinError

if TYPE_CHECKING:
    from pulumi.runtime.proto import (
        engine_pb2,
        engine_pb2_grpc,
        plugin_pb2,
        provider_pb2,
        provider_pb2_grpc,
        status_pb2,
    )
else:

    def _stand_in(name: str, folder: Path) -> None:
        package = ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package

    def _load(*names: str) -> list[ModuleType]:
        stand_ins = []
        if "pulumi" not in sys.modules:
            spec = importlib.util.find_spec("pulumi")
            if spec is None or spec.origin is None:
                raise TwinError("The Pulumi SDK for Python is missing. Run `make up` or `uv sync` first.")
            folder = Path(spec.origin).parent
            stand_ins = ["pulumi", "pulumi.runtime"]
            _stand_in("pulumi", folder)
            _stand_in("pulumi.runtime", folder / "runtime")
        try:
            return [importlib.import_module(f"pulumi.runtime.proto.{name}") for name in names]
        finally:
            for name in stand_ins:
                del sys.modules[name]

    engine_pb2, engine_pb2_grpc, plugin_pb2, provider_pb2, provider_pb2_grpc, status_pb2 = _load(
        "engine_pb2", "engine_pb2_grpc", "plugin_pb2", "provider_pb2", "provider_pb2_grpc", "status_pb2"
    )

__all__ = [
    "engine_pb2",
    "engine_pb2_grpc",
    "plugin_pb2",
    "provider_pb2",
    "provider_pb2_grpc",
    "status_pb2",
]
