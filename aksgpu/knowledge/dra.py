"""The API resource.k8s.io and NVIDIA's driver for it: what is served, kept and published.

Sources: `pkg/features/kube_features.go` and `resource/v1/types.go` of Kubernetes 1.34 to 1.37; the sources of
kubernetes-sigs/dra-driver-nvidia-gpu up to v0.4.1; nvidia-smi for the memory that GPUs report.
"""

from functools import lru_cache
from typing import Any, Final, NamedTuple

from aksgpu.knowledge.device_cel import as_number
from aksgpu.knowledge.kubernetes import Minor

API_GROUP: Final = "resource.k8s.io"
SERVED_FROM: Final = Minor(1, 34)
"""The first minor with `resource.k8s.io/v1`."""

KEPT_FROM: Final = {
    "extendedResourceName": Minor(1, 36),
    "tolerations": Minor(1, 36),
    "capacity": Minor(1, 36),
    "distinctAttribute": Minor(1, 36),
}
"""Fields behind a feature gate, and the minor that has it on by default; before, the API server drops them silently.
AKS sets no gates."""

MAX_ENTRIES: Final = 32
"""Requests, constraints or configurations of a claim, and selectors of one request or class."""
MAX_ALTERNATIVES: Final = 8
MAX_DEVICES: Final = 32
"""Devices of one claim."""
MAX_EXPRESSION: Final = 10 * 1024
"""Bytes of one CEL expression."""

NVIDIA_DRIVER: Final = "gpu.nvidia.com"
REMOVED_ATTRIBUTES: Final = {
    "index": "uuid",
    "minor": "uuid",
    "parentIndex": "parentUUID",
    "pcieBusID": 'device.attributes["resource.kubernetes.io"].pciBusID',
}
"""Attributes of gpu.nvidia.com that releases before 25.12 published, and what says the same now."""


class Product(NamedTuple):
    """A GPU model as the driver publishes it."""

    model: str
    """As the table of VM sizes has it."""
    memory_gib: int
    """Of the name, as in that table."""
    name: str
    architecture: str
    memory_mib: int
    """The most that a GPU of this product reports; less than its name says, as the driver keeps some."""


PRODUCTS: Final = (
    Product("V100", 16, "Tesla V100-PCIE-16GB", "Volta", 16384),
    Product("V100", 32, "Tesla V100-SXM2-32GB", "Volta", 32768),
    Product("T4", 16, "Tesla T4", "Turing", 16384),
    Product("A10", 24, "NVIDIA A10-24Q", "Ampere", 24576),
    Product("A100", 40, "NVIDIA A100-SXM4-40GB", "Ampere", 40960),
    Product("A100", 80, "NVIDIA A100 80GB PCIe", "Ampere", 81920),
    Product("A100", 80, "NVIDIA A100-SXM4-80GB", "Ampere", 81920),
    Product("H100", 80, "NVIDIA H100 80GB HBM3", "Hopper", 81559),
    Product("H100", 94, "NVIDIA H100 NVL", "Hopper", 95830),
    Product("H200", 141, "NVIDIA H200", "Hopper", 143771),
    Product("GB200", 192, "NVIDIA GB200", "Blackwell", 196608),
    Product("GB300", 288, "NVIDIA GB300", "Blackwell", 294912),
    Product("RTX PRO 6000", 96, "NVIDIA RTX PRO 6000 Blackwell Server Edition", "Blackwell", 98304),
)
"""Products on Azure whose nodes can run the driver. Names may differ in detail, so no rule claims anything from a name
alone."""


@lru_cache(maxsize=64)
def sample_devices(products: tuple[Product, ...], shares: tuple[float, ...] = (1.0,)) -> tuple[dict[str, Any], ...]:
    """Return devices as v0.4.1 of the driver publishes them, for each product whole GPUs and MIG devices.

    They have `shares` of the product's memory, with quantities and versions as numbers.
    """
    return tuple(_device(product, kind, share) for product in products for share in shares for kind in ("gpu", "mig"))


def _device(product: Product, kind: str, share: float) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        "type": kind,
        "uuid": "GPU-00000000-0000-0000-0000-000000000000",
        "productName": product.name,
        "brand": "Nvidia",
        "architecture": product.architecture,
        "cudaComputeCapability": as_number("9.0.0"),
        "driverVersion": as_number("580.126.9"),
        "cudaDriverVersion": as_number("13.0.0"),
    }
    if kind == "mig":
        attributes |= {"parentUUID": attributes["uuid"], "profile": "1g.10gb"}
    return {
        "driver": NVIDIA_DRIVER,
        "attributes": {
            NVIDIA_DRIVER: attributes,
            "resource.kubernetes.io": {"pciBusID": "0001:00:00.0", "pcieRoot": "pci0001:00"},
        },
        "capacity": {NVIDIA_DRIVER: {"memory": product.memory_mib * share * 2**20}},
        "allowMultipleAllocations": False,
    }
