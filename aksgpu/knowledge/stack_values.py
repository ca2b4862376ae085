"""The values of NVIDIA's charts that decide about GPUs: where they are, what they mean, what the charts say by default.

Sources: values.yaml of the charts gpu-operator (v26), dra-driver-nvidia-gpu (0.5) and nvsentinel, and NVIDIA/aicr
(registry.yaml and the values of its AKS recipes).
"""

from typing import Final, Literal, NamedTuple

from aksgpu.facts.stack import ComponentName

Kind = Literal["flag", "text", "list", "labels"]


class Value(NamedTuple):
    """One value of a chart."""

    path: str
    kind: Kind
    default: bool | str | None
    """What the chart says; None for nothing."""
    meaning: str


GPUS: Final = "resources.gpus.enabled"
WAIVER: Final = "gpuResourcesEnabledOverride"
DEVICE_PLUGIN: Final = "devicePlugin.enabled"
DRIVER: Final = "driver.enabled"
TOOLKIT: Final = "toolkit.enabled"
TOOLKIT_ENV: Final = "toolkit.env"
RUNTIME_CLASS: Final = "operator.runtimeClass"
INSTALL_DIR: Final = "hostPaths.driverInstallDir"
HOST_MOFED: Final = "driver.rdma.useHostMofed"
EVICTION_ENV: Final = "driver.manager.env"
DRIVER_ROOT: Final = "nvidiaDriverRoot"
PLUGIN_SELECTOR: Final = "kubeletPlugin.nodeSelector"
TUNING: Final = "tuningEnabled"
INTENT: Final = "intent"
ACCELERATED_TOLERATIONS: Final = "acceleratedTolerations"
ASSUME_DRIVER: Final = "labeler.assumeDriverInstalled"
COLLECTOR_RUNTIME_CLASS: Final = "metadata-collector.runtimeClassName"

OPERATOR_ROOT: Final = "/run/nvidia/driver"
"""Where the GPU Operator puts the driver that it installs."""
HOST_ROOT: Final = "/"
"""Where the driver of the AKS node image is."""

_OPERATOR: Final = (
    Value(DEVICE_PLUGIN, "flag", True, "Runs the device plugin, which advertises nvidia.com/gpu."),
    Value(DRIVER, "flag", True, "Installs the kernel driver on nodes."),
    Value(TOOLKIT, "flag", True, "Configures the container runtime of nodes for GPUs."),
    Value(TOOLKIT_ENV, "list", None, "Environment of the toolkit's container."),
    Value(RUNTIME_CLASS, "text", "nvidia", "Name of the runtime class and of the runtime's handler."),
    Value(INSTALL_DIR, "text", OPERATOR_ROOT, "Where on the node the installed driver appears."),
    Value(HOST_MOFED, "flag", False, "Uses RDMA modules that the node's own system has."),
    Value(EVICTION_ENV, "list", None, "Environment of the driver manager, which empties a node before an upgrade."),
)
_DRA_DRIVER: Final = (
    Value(GPUS, "flag", True, "Publishes whole GPUs as resource slices."),
    Value(WAIVER, "flag", False, "Disarms the chart's guard against doing so beside a device plugin."),
    Value(DRIVER_ROOT, "text", HOST_ROOT, "Where the DRA driver finds the GPU driver."),
    Value(PLUGIN_SELECTOR, "labels", None, "The nodes that the DRA driver's plugin runs on."),
)

VALUES: Final[dict[ComponentName, tuple[Value, ...]]] = {
    "gpu-operator": _OPERATOR,
    "gpu-operator-ocp": _OPERATOR,
    "nvidia-dra-driver-gpu": _DRA_DRIVER,
    "nvidia-dra-driver-gpu-ocp": _DRA_DRIVER,
    "network-operator": (),
    "nodewright-customizations": (
        Value(TUNING, "flag", True, "Tunes the kernel of nodes, which reboots them."),
        Value(INTENT, "text", None, "What the nodes are tuned for: multiNodeTraining or inference."),
        Value(ACCELERATED_TOLERATIONS, "list", None, "Tolerations of the pods that change GPU nodes."),
    ),
    "nvsentinel": (
        Value(ASSUME_DRIVER, "flag", False, "Takes a node's driver for installed without seeing its pod."),
        Value(COLLECTOR_RUNTIME_CLASS, "text", "nvidia", "Runtime class of the pods that look at GPUs."),
    ),
}

OPERATORS: Final[tuple[ComponentName, ...]] = ("gpu-operator", "gpu-operator-ocp")
DRA_DRIVERS: Final[tuple[ComponentName, ...]] = ("nvidia-dra-driver-gpu", "nvidia-dra-driver-gpu-ocp")
"""The first one that is enabled counts."""

CHARTS: Final[dict[str, ComponentName]] = {
    **{name: name for name in VALUES},
    "gpu-operator-certified": "gpu-operator",
    "dra-driver-nvidia-gpu": "nvidia-dra-driver-gpu",
}
"""Names of charts, old and new, and the component in each."""

OTHER_NAMES: Final[dict[str, ComponentName]] = {
    "gpuoperator": "gpu-operator",
    "gpuoperatorocp": "gpu-operator-ocp",
    "dradriver": "nvidia-dra-driver-gpu",
    "dra-driver-nvidia-gpu": "nvidia-dra-driver-gpu",
    "networkoperator": "network-operator",
    "nodewrightcustomizations": "nodewright-customizations",
    "skyhookcustomizations": "nodewright-customizations",
    "nv-sentinel": "nvsentinel",
}
"""What other tools call the components; not accepted, but understood in order to help."""
