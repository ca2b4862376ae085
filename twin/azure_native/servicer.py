"""The gRPC side of the plugin: every call of the protocol goes to the provider's method of the same name."""

import traceback
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import grpc
from google.protobuf import any_pb2

from twin.azure_native.arm_client import AzureError, InterruptedByEngineError
from twin.azure_native.engine_log import EngineLog
from twin.azure_native.operations import PartialError
from twin.azure_native.protocol import provider_pb2, provider_pb2_grpc, status_pb2
from twin.azure_native.provider import Provider
from twin.azure_native.values import to_struct
from twin.errors import TwinError

Request = TypeVar("Request")
Response = TypeVar("Response")


def servicer(provider: Provider, log: EngineLog) -> provider_pb2_grpc.ResourceProviderServicer:
    """Return a servicer; a call that the provider has no method for is answered with `unimplemented`."""
    served = provider_pb2_grpc.ResourceProviderServicer()
    methods: dict[str, Callable[[Any], Any]] = {
        "Handshake": provider.handshake,
        "Attach": provider.attach,
        "GetPluginInfo": provider.get_plugin_info,
        "GetMapping": provider.get_mapping,
        "Parameterize": provider.parameterize,
        "GetSchema": provider.get_schema,
        "CheckConfig": provider.check_config,
        "DiffConfig": provider.diff_config,
        "Configure": provider.configure,
        "Cancel": provider.cancel,
        "Check": provider.check,
        "Diff": provider.diff,
        "Create": provider.create,
        "Read": provider.read,
        "Update": provider.update,
        "Delete": provider.delete,
        "Invoke": provider.invoke,
    }
    for name, method in methods.items():
        setattr(served, name, _guarded(method, log))
    return served


def _guarded(
    method: Callable[[Request], Response], log: EngineLog
) -> Callable[[Request, grpc.ServicerContext], Response]:
    """Turn exceptions into gRPC errors: a sentence for a person, never a traceback."""

    def answer(request: Request, context: grpc.ServicerContext) -> Response:
        try:
            return method(request)
        except PartialError as error:
            _keep_state(context, error)
            _fail(context, error.reason)
        except (TwinError, AzureError, InterruptedByEngineError) as error:
            _fail(context, str(error))
        except Exception as error:  # noqa: BLE001 - an error of ours must reach the person as a sentence, too
            log.debug(traceback.format_exc())
            _fail(
                context,
                f"The twin's azure-native failed: {type(error).__name__}: {error}. This is a mistake in the twin; "
                "`pulumi --debug` shows where.",
            )

    return answer


def _fail(context: grpc.ServicerContext, text: str) -> NoReturn:
    context.abort(grpc.StatusCode.UNKNOWN, text)
    raise AssertionError("abort always raises")


def _keep_state(context: grpc.ServicerContext, error: PartialError) -> None:
    """Attach the protocol's detail by which the engine keeps a resource whose operation failed."""
    detail = any_pb2.Any()
    detail.Pack(
        provider_pb2.ErrorResourceInitFailed(
            id=error.id,
            properties=to_struct(error.state),
            inputs=to_struct(error.inputs),
            reasons=[error.reason],
        )
    )
    status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=error.reason, details=[detail])
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
