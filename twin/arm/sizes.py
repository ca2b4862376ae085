"""The VM sizes that the simulated Azure sells.

vCPU, RAM, GPU model and quota family: karpenter-provider-azure, AgentBaker and azure-compute-docs. What
nvidia-smi reports (product, memory) is known from public nvidia-smi listings; where only the marketing size
is public (GB200, GB300, RTX PRO 6000) it is assumed. Driver and CUDA versions depend on the node image and
are assumed.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Gpu:
    """One GPU model."""

    product: str
    brand: str
    architecture: str
    compute_capability: str
    memory_mib: int
    mig: bool = False
    """Whether it can be partitioned."""
    driver: str = "580.126.09"
    cuda: str = "13.0"


@dataclass(frozen=True)
class VmSize:
    """One VM size."""

    name: str
    vcpus: int
    memory_gib: int
    family: str
    """Quota family, as Compute usage names it."""
    gpu: Gpu | None = None
    gpus: int = 0
    rdma: bool = False
    """InfiniBand."""
    architecture: Literal["amd64", "arm64"] = "amd64"


_T4 = Gpu("Tesla T4", "Tesla", "Turing", "7.5.0", 15360)
_A100 = Gpu("NVIDIA A100 80GB PCIe", "Nvidia", "Ampere", "8.0.0", 81920, mig=True)
_A100_SXM40 = Gpu("NVIDIA A100-SXM4-40GB", "Nvidia", "Ampere", "8.0.0", 40960, mig=True)
_A100_SXM80 = Gpu("NVIDIA A100-SXM4-80GB", "Nvidia", "Ampere", "8.0.0", 81920, mig=True)
_H100_NVL = Gpu("NVIDIA H100 NVL", "Nvidia", "Hopper", "9.0.0", 95830, mig=True)
_H100 = Gpu("NVIDIA H100 80GB HBM3", "Nvidia", "Hopper", "9.0.0", 81559, mig=True)
_H200 = Gpu("NVIDIA H200", "Nvidia", "Hopper", "9.0.0", 143771, mig=True)
_GB200 = Gpu("NVIDIA GB200", "Nvidia", "Blackwell", "10.0.0", 189471, mig=True)
_GB300 = Gpu("NVIDIA GB300", "Nvidia", "Blackwell", "10.3.0", 284208, mig=True)
_RTX = Gpu(
    "NVIDIA RTX Pro 6000 Blackwell DC", "NvidiaRTX", "Blackwell", "12.0.0", 97887, driver="595.58.03", cuda="13.2"
)

_T4_FAMILY = "Standard NCASv3_T4 Family"
_NC_A100_FAMILY = "StandardNCADSA100v4Family"
_NC_H100_FAMILY = "StandardNCadsH100v5Family"
_A10_FAMILY = "StandardNVADSA10v5Family"


def _a10(memory: int) -> Gpu:
    return Gpu(
        f"NVIDIA A10-{memory}Q",
        "NvidiaRTXVirtualWorkstation",
        "Ampere",
        "8.6.0",
        memory * 1024,
        driver="570.211.01",
        cuda="12.8",
    )


_GPU_SIZES = (
    VmSize("Standard_NC4as_T4_v3", 4, 28, _T4_FAMILY, _T4, 1),
    VmSize("Standard_NC8as_T4_v3", 8, 56, _T4_FAMILY, _T4, 1),
    VmSize("Standard_NC16as_T4_v3", 16, 110, _T4_FAMILY, _T4, 1),
    VmSize("Standard_NC64as_T4_v3", 64, 440, _T4_FAMILY, _T4, 4),
    VmSize("Standard_NC24ads_A100_v4", 24, 220, _NC_A100_FAMILY, _A100, 1),
    VmSize("Standard_NC48ads_A100_v4", 48, 440, _NC_A100_FAMILY, _A100, 2),
    VmSize("Standard_NC96ads_A100_v4", 96, 880, _NC_A100_FAMILY, _A100, 4),
    VmSize("Standard_NC40ads_H100_v5", 40, 320, _NC_H100_FAMILY, _H100_NVL, 1),
    VmSize("Standard_NC80adis_H100_v5", 80, 640, _NC_H100_FAMILY, _H100_NVL, 2),
    VmSize("Standard_ND96asr_v4", 96, 900, "Standard NDASv4_A100 Family", _A100_SXM40, 8, rdma=True),
    VmSize("Standard_ND96amsr_A100_v4", 96, 1900, "Standard NDAMSv4_A100Family", _A100_SXM80, 8, rdma=True),
    VmSize("Standard_ND96isr_H100_v5", 96, 1900, "standardNDSH100v5Family", _H100, 8, rdma=True),
    VmSize("Standard_ND96isr_H200_v5", 96, 1850, "standardNDISRH200V5Family", _H200, 8, rdma=True),
    VmSize("Standard_ND128isr_NDR_GB200_v6", 128, 864, "standardNDISRGB200V6NDRFamily", _GB200, 4, True, "arm64"),
    VmSize("Standard_ND128isr_GB300_v6", 128, 864, "standardNDISRGB300V6Family", _GB300, 4, True, "arm64"),
    VmSize("Standard_NV6ads_A10_v5", 6, 55, _A10_FAMILY, _a10(4), 1),
    VmSize("Standard_NV12ads_A10_v5", 12, 110, _A10_FAMILY, _a10(8), 1),
    VmSize("Standard_NV18ads_A10_v5", 18, 220, _A10_FAMILY, _a10(12), 1),
    VmSize("Standard_NV36ads_A10_v5", 36, 440, _A10_FAMILY, _a10(24), 1),
    VmSize("Standard_NV36adms_A10_v5", 36, 880, _A10_FAMILY, _a10(24), 1),
    VmSize("Standard_NV72ads_A10_v5", 72, 880, _A10_FAMILY, _a10(24), 2),
    VmSize("Standard_NC144ds_xl_RTXPRO6000BSE_v6", 144, 516, "StandardNCdsRTXPRO6000BSEv6XLFamily", _RTX, 1),
    VmSize("Standard_NC288ds_xl_RTXPRO6000BSE_v6", 288, 1032, "StandardNCdsRTXPRO6000BSEv6XLFamily", _RTX, 2),
)


def _cpu(series: str, ratio: int, family: str, vcpus: tuple[int, ...]) -> list[VmSize]:
    return [VmSize(f"Standard_{series.format(n)}", n, n * ratio, family) for n in vcpus]


_STEPS = (2, 4, 8, 16, 32, 48, 64, 96)
_CPU_SIZES = (
    VmSize("Standard_DS2_v2", 2, 7, "standardDSv2Family"),
    VmSize("Standard_DS3_v2", 4, 14, "standardDSv2Family"),
    VmSize("Standard_B2s", 2, 4, "standardBSFamily"),
    VmSize("Standard_B2ms", 2, 8, "standardBSFamily"),
    VmSize("Standard_B4ms", 4, 16, "standardBSFamily"),
    *_cpu("D{}s_v3", 4, "standardDSv3Family", _STEPS),
    *_cpu("D{}s_v5", 4, "standardDSv5Family", _STEPS),
    *_cpu("D{}ds_v5", 4, "standardDDSv5Family", _STEPS),
    *_cpu("D{}as_v5", 4, "standardDASv5Family", _STEPS),
    *_cpu("E{}s_v5", 8, "standardESv5Family", _STEPS),
    *_cpu("F{}s_v2", 2, "standardFSv2Family", _STEPS),
)

SIZES: dict[str, VmSize] = {size.name.lower(): size for size in (*_GPU_SIZES, *_CPU_SIZES)}

DEFAULT_LIMIT = 20_000
"""vCPUs of a quota family: at least 100 of the largest nodes."""
REGIONAL_LIMIT = 100_000
"""vCPUs of a region."""


def find(name: str) -> VmSize | None:
    """Return the size of this name, in any case."""
    return SIZES.get(name.lower())
