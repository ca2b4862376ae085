"""What the plugin does for each call of the engine: unpacks it, asks the part that knows, packs the answer."""

import functools
import threading
from collections.abc import Callable
from typing import Literal

from google.protobuf import empty_pb2

from twin.azure_native import checks, diff, naming, parameterize, tokens
from twin.azure_native.engine_log import EngineLog
from twin.azure_native.invokes import Invokes
from twin.azure_native.metadata import Metadata, load, provider_version
from twin.azure_native.operations import Kind, Operations
from twin.azure_native.parameterize import Parameter
from twin.azure_native.protocol import plugin_pb2, provider_pb2
from twin.azure_native.schema import package_schema
from twin.azure_native.settings import Settings, configure
from twin.azure_native.values import from_struct, to_struct
from twin.errors import TwinError

_Kinds = provider_pb2.PropertyDiff
_CHANGE_KINDS = {
    ("add", False): _Kinds.ADD,
    ("add", True): _Kinds.ADD_REPLACE,
    ("delete", False): _Kinds.DELETE,
    ("delete", True): _Kinds.DELETE_REPLACE,
    ("update", False): _Kinds.UPDATE,
    ("update", True): _Kinds.UPDATE_REPLACE,
}
_AUTONAMING: dict[int, Literal["propose", "enforce", "disable"]] = {0: "propose", 1: "enforce", 2: "disable"}


class Provider:
    """One running plugin: a method for each call of the protocol that it serves."""

    def __init__(self, log: EngineLog) -> None:
        self.log = log
        self._cancelled = threading.Event()
        self._settings: Settings | None = None
        self._parameter: Parameter | None = None

    # --- the plugin itself ---

    def handshake(self, request: provider_pb2.ProviderHandshakeRequest) -> provider_pb2.ProviderHandshakeResponse:
        """Agree on the protocol's optional parts: autonaming, and nothing wrapped."""
        self.log.connect(request.engine_address)
        return provider_pb2.ProviderHandshakeResponse(supports_autonaming_configuration=True)

    def attach(self, request: plugin_pb2.PluginAttach) -> empty_pb2.Empty:
        """Serve another engine (`PULUMI_DEBUG_PROVIDERS`)."""
        self.log.connect(request.address)
        return empty_pb2.Empty()

    def get_plugin_info(self, _request: empty_pb2.Empty) -> plugin_pb2.PluginInfo:
        """Tell the version that the plugin stands in for."""
        return plugin_pb2.PluginInfo(version=provider_version())

    def get_mapping(self, _request: provider_pb2.GetMappingRequest) -> provider_pb2.GetMappingResponse:
        """Offer no mapping from another ecosystem, like the real provider."""
        return provider_pb2.GetMappingResponse()

    def parameterize(self, request: provider_pb2.ParameterizeRequest) -> provider_pb2.ParameterizeResponse:
        """Become a package of one API version. Only its schema differs: tokens say themselves what they mean."""
        if request.HasField("value"):
            parameter = parameterize.from_value(request.value.value)
        else:
            parameter = parameterize.from_arguments(request.args.args)
        parameterize.check(parameter, self._metadata)
        self._parameter = parameter
        return provider_pb2.ParameterizeResponse(name=parameter.package, version=provider_version())

    def get_schema(self, _request: provider_pb2.GetSchemaRequest) -> provider_pb2.GetSchemaResponse:
        """Describe the package to other languages."""
        return provider_pb2.GetSchemaResponse(schema=package_schema(self._metadata, self._parameter))

    def check_config(self, request: provider_pb2.CheckRequest) -> provider_pb2.CheckResponse:
        """Accept any configuration, like the real provider."""
        return provider_pb2.CheckResponse(inputs=request.news)

    def diff_config(self, _request: provider_pb2.DiffRequest) -> provider_pb2.DiffResponse:
        """Never replace the provider, like the real one."""
        return provider_pb2.DiffResponse()

    def configure(self, request: provider_pb2.ConfigureRequest) -> provider_pb2.ConfigureResponse:
        """Connect to the twin's Azure endpoint."""
        self._settings = configure({key.rpartition(":")[2]: value for key, value in request.variables.items()})
        return provider_pb2.ConfigureResponse(supportsPreview=True, supports_autonaming_configuration=True)

    def cancel(self, _request: empty_pb2.Empty) -> empty_pb2.Empty:
        """Stop waiting for Azure; the calls in progress answer at once with what there is."""
        self._cancelled.set()
        return empty_pb2.Empty()

    # --- resources ---

    def check(self, request: provider_pb2.CheckRequest) -> provider_pb2.CheckResponse:
        """Fill in defaults and validate."""
        kind = self._kind(request.urn)
        olds, news = from_struct(request.olds), from_struct(request.news)
        naming.fill_name(kind.resource, olds, news, _naming(request))
        location = self._configured().location
        naming.fill_location(kind.shape, olds, news, location, self._operations.group_location)
        news.setdefault("azureApiVersion", kind.api_version)
        return provider_pb2.CheckResponse(
            inputs=to_struct(news),
            failures=[
                provider_pb2.CheckFailure(reason=reason) for reason in checks.failures(kind.resource, kind.shape, news)
            ],
        )

    def diff(self, request: provider_pb2.DiffRequest) -> provider_pb2.DiffResponse:
        """Compare old and new inputs, leaf by leaf."""
        kind = self._kind(request.urn)
        plan = diff.plan(
            kind.resource, from_struct(request.old_inputs), from_struct(request.news), from_struct(request.olds)
        )
        some = provider_pb2.DiffResponse.DIFF_SOME if plan.changes else provider_pb2.DiffResponse.DIFF_NONE
        return provider_pb2.DiffResponse(
            changes=some,
            diffs=sorted({change.path.partition(".")[0].partition("[")[0] for change in plan.changes}),
            replaces=[change.path for change in plan.changes if change.replaces],
            detailedDiff={
                change.path: provider_pb2.PropertyDiff(kind=_CHANGE_KINDS[change.kind, change.replaces], inputDiff=True)
                for change in plan.changes
            },
            hasDetailedDiff=True,
            deleteBeforeReplace=plan.delete_first,
        )

    def create(self, request: provider_pb2.CreateRequest) -> provider_pb2.CreateResponse:
        """Create a resource, or tell what a preview knows of it."""
        kind, inputs = self._kind(request.urn), from_struct(request.properties)
        if request.preview:
            return provider_pb2.CreateResponse(properties=to_struct(self._operations.preview_create(kind, inputs)))
        id_, state = self._operations.create(kind, inputs, request.timeout, self._report(request.urn))
        return provider_pb2.CreateResponse(id=id_, properties=to_struct(state))

    def read(self, request: provider_pb2.ReadRequest) -> provider_pb2.ReadResponse:
        """Read a resource, for a refresh or an import."""
        inputs = from_struct(request.inputs) or None
        live = self._operations.read(self._kind(request.urn), request.id, inputs, from_struct(request.properties))
        if live is None:
            return provider_pb2.ReadResponse()
        return provider_pb2.ReadResponse(id=request.id, properties=to_struct(live.state), inputs=to_struct(live.inputs))

    def update(self, request: provider_pb2.UpdateRequest) -> provider_pb2.UpdateResponse:
        """Update a resource, or tell what a preview knows of it."""
        kind, inputs = self._kind(request.urn), from_struct(request.news)
        if request.preview:
            state = self._operations.preview_update(kind, inputs, from_struct(request.olds))
        else:
            report = self._report(request.urn)
            state = self._operations.update(kind, request.id, inputs, request.timeout, report)
        return provider_pb2.UpdateResponse(properties=to_struct(state))

    def delete(self, request: provider_pb2.DeleteRequest) -> empty_pb2.Empty:
        """Delete a resource."""
        kind, inputs = self._kind(request.urn), from_struct(request.old_inputs)
        self._operations.delete(kind, request.id, inputs, request.timeout, self._report(request.urn))
        return empty_pb2.Empty()

    # --- functions ---

    def invoke(self, request: provider_pb2.InvokeRequest) -> provider_pb2.InvokeResponse:
        """Call a function."""
        invokes = Invokes(self._configured(), self._metadata, self._operations)
        result = invokes.call(request.tok, from_struct(request.args))
        response = provider_pb2.InvokeResponse()
        getattr(response, "return").CopyFrom(to_struct(result))
        return response

    # --- helpers ---

    @functools.cached_property
    def _metadata(self) -> Metadata:
        return load()

    @functools.cached_property
    def _operations(self) -> Operations:
        return Operations(self._configured(), self._metadata, self._cancelled)

    def _configured(self) -> Settings:
        if self._settings is None:
            raise TwinError("The twin's azure-native was used before it was configured.")
        return self._settings

    def _kind(self, urn: str) -> Kind:
        written = tokens.type_of_urn(urn)
        return self._operations.kind(tokens.parse(written), written)

    def _report(self, urn: str) -> Callable[[str], None]:
        return functools.partial(self.log.status, urn)


def _naming(request: provider_pb2.CheckRequest) -> naming.Naming:
    logical_name = tokens.name_of_urn(request.urn)
    if not request.HasField("autonaming"):
        return naming.Naming(logical_name, request.randomSeed)
    mode = _AUTONAMING[request.autonaming.mode]
    return naming.Naming(logical_name, request.randomSeed, mode, request.autonaming.proposed_name)
