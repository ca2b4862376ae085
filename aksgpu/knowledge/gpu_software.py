"""By what device plugins and DRA drivers for NVIDIA GPUs are known, as regular expressions.

They are used by Python and, in admission policies, by RE2, so they keep to what both understand: no look-around.
Case is ignored. Sources: the charts and images of NVIDIA/k8s-device-plugin and kubernetes-sigs/dra-driver-nvidia-gpu.
"""

from typing import Final

PLUGIN: Final = r"(?:nvidia|k8s|gpu)[\w.-]*device-plugin|nvdp"
"""In the end of an image's path or the program's name of a device plugin."""

DRA_DRIVER: Final = "gpu-kubelet-plugin"
"""The program of NVIDIA's DRA driver that publishes GPUs."""

DRA_IMAGE: Final = "dra-driver-nvidia-gpu|nvidia-dra-driver|k8s-dra-driver-gpu"
"""In the end of the path of the DRA driver's image."""

OTHER_DEVICES: Final = (
    r"(?:^|[^a-z0-9])(?:rdma|sriov(?:dp)?|sr-iov|amd(?:gpu)?|rocm|intel(?:gpu)?|habana(?:labs)?|gaudi|xilinx|fpga|"
    r"kubevirt|kvm|smarter|akri|qat|tpu|neuron|ascend|sgx|fuse|network|generic-device-plugin)(?:[^a-z0-9]|$)"
)
"""Words of device plugins for other devices; they use the same folder."""

PLUGIN_FOLDER: Final = "/var/lib/kubelet/device-plugins"
"""What a device plugin needs of the node in order to register."""

DRA_DRIVER_FOLDER: Final = "/var/lib/kubelet/plugins/gpu.nvidia.com"
"""Where NVIDIA's DRA driver has its socket for the kubelet."""

PLUGIN_HELPERS: Final = frozenset({"mps-control-daemon", "gpu-feature-discovery", "config-manager"})
"""Programs in the device plugin's image that advertise nothing."""

SHELLS: Final = frozenset({"sh", "bash", "ash", "dash"})

EXTENDED_RESOURCES: Final = ("nvidia.com/gpu", "nvidia.com/mig-")
"""How names of GPUs as extended resources start."""

DRA_DRIVER_NAME: Final = "gpu.nvidia.com"
"""NVIDIA's DRA driver in ResourceSlices and in the expressions of device classes."""

DEVICE_CLASSES: Final = ("gpu.nvidia.com", "mig.nvidia.com", "aks-dra-gpu")
"""Classes of GPUs that are known by name: of NVIDIA's chart, and of the AKS article."""
