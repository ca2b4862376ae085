"""The dated tables agree with themselves and with what the sources say in so many words."""

import itertools

import pytest

from aksgpu.knowledge import azure_api, gpu_sizes, kubernetes, node_pools, pool_kinds


@pytest.mark.parametrize(
    ("version", "field", "has"),
    [
        ("2025-09-01", "managementMode", False),
        ("2025-10-02-preview", "managementMode", False),
        ("2026-01-02-preview", "managementMode", True),
        ("2026-05-02-preview", "driverMode", False),
        ("2026-06-02-preview", "driverMode", True),
        ("2026-06-02-PREVIEW", "driverMode", True),
        ("2026-06-02-preview", "migProfiles", False),
        ("2027-01-02-preview", "driverMode", True),
        ("2026-07-01", "managementMode", False),
        ("2026-08-01", "managementMode", True),
        ("2026-08-01", "driverMode", False),
        ("2027-01-01", "driverMode", None),
        ("latest", "driverMode", None),
        ("2026-13-01", "driverMode", None),
    ],
)
def test_fields_of_an_api_version(version: str, field: str, has: bool | None):
    assert azure_api.has_field(version, field) is has


def test_the_version_this_project_writes_has_every_field():
    assert all(azure_api.has_field(azure_api.MANAGED_DRA_API_VERSION, field) for field in azure_api.FIELD_PATHS)


@pytest.mark.parametrize(
    ("size", "kind"),
    [
        ("Standard_NC24ads_A100_v4", "nvidia"),
        ("standard_nc24ADS_a100_V4", "nvidia"),
        ("Standard_NC24lds_xl_RTXPRO6000BSE_v6", "nvidia"),
        ("Standard_D4s_v5", "no-nvidia"),
        ("Standard_E64-16s_v3", "no-nvidia"),
        ("Standard_HB120rs_v3", "no-nvidia"),
        ("Standard_NV32as_v4", "no-nvidia"),
        ("Standard_NG32ads_V620_v1", "no-nvidia"),
        ("Standard_NP10s", "no-nvidia"),
        ("Standard_NG8ads_V620_v1", "no-nvidia"),
        ("Standard_NV4ads_V710_v5", "no-nvidia"),
        ("Standard_ND96isr_MI300X_v5", "no-nvidia"),
        ("Standard_ND96is_mi300x_v5", "no-nvidia"),
        ("Standard_ND128isr_MI325X_v6", "no-nvidia"),
        ("Standard_ND128isrG5_GB300_v6", "nvidia"),
        ("Standard_NC6s_v3", "nvidia"),
        ("Standard_NC24ads_A100_v5", "unknown"),
        ("NC24ads_A100_v4", "unknown"),
        ("", "unknown"),
    ],
)
def test_kind_of_a_size(size: str, kind: str):
    assert gpu_sizes.kind(size) == kind


def test_sizes_are_unique_and_all_of_the_n_family():
    names = [size.name.casefold() for size in gpu_sizes.SIZES]
    assert len(set(names)) == len(names) >= 30
    assert all(name.startswith("standard_n") for name in names)
    assert all(size.gpus > 0 for size in gpu_sizes.SIZES)


def test_what_no_source_says_about_a_size_is_not_made_up():
    for name in ("Standard_ND128isr_NDR_GB200_v6", "Standard_NC144ds_xl_RTXPRO6000BSE_v6"):
        size = gpu_sizes.find(name)
        assert size is not None
        assert size.mig is None


def test_shares_of_a_gpu_need_the_grid_driver():
    shares = [size for size in gpu_sizes.SIZES if size.shared]
    assert len(shares) >= 4
    assert all(size.grid for size in shares)


@pytest.mark.parametrize(
    ("version", "than", "older"),
    [
        ("1.34", "1.35", True),
        ("1.9", "1.35", True),
        ("1.35.9", "1.36.0", True),
        ("1.35.1", "1.35.2", True),
        ("1.35.10", "1.35.9", False),
        ("1.35", "1.35.4", False),
        ("1.35.4", "1.35", False),
        ("1.36", "1.35", False),
        ("latest", "1.35", False),
        ("1.35", "latest", False),
    ],
)
def test_versions_are_compared_as_far_as_they_are_written(version: str, than: str, older: bool):
    assert kubernetes.is_older(version, than) is older


def test_near_sizes():
    assert gpu_sizes.near("Standard_NC24ads_A100_v5")[0] == "Standard_NC24ads_A100_v4"
    assert gpu_sizes.near("xyz") == []


def test_releases_follow_one_another():
    for earlier, later in itertools.pairwise(kubernetes.RELEASES):
        assert later.minor.minor == earlier.minor.minor + 1
        assert earlier.available < later.available
        assert earlier.end_of_life < later.end_of_life
    for entry in kubernetes.RELEASES:
        assert entry.preview < entry.available < entry.end_of_life < entry.lts_end_of_life


@pytest.mark.parametrize(
    ("text", "minor"), [("1.35", (1, 35)), ("v1.35.4", (1, 35)), (" 1.35 ", (1, 35)), ("1", None), ("1.35-lts", None)]
)
def test_minor_of_a_version(text: str, minor: tuple[int, int] | None):
    assert kubernetes.parse_minor(text) == minor


def test_minors_compare_as_numbers():
    assert kubernetes.Minor(1, 9) < kubernetes.Minor(1, 35)
    lowest = kubernetes.release(kubernetes.MANAGED_DRA_MINIMUM)
    assert lowest is not None
    assert lowest.dra == "stable"


@pytest.mark.parametrize(
    ("name", "windows", "right"),
    [
        ("gpupool00001", False, True),
        ("gpupool000001", False, False),
        ("1gpu", False, False),
        ("gpu-np", False, False),
        ("", False, False),
        ("gpué", False, False),
        ("win123", True, True),
        ("win1234", True, False),
    ],
)
def test_names_of_pools(name: str, windows: bool, right: bool):
    assert (node_pools.name_problem(name, windows=windows) is None) is right


def test_kinds_fix_the_three_settings_without_contradiction():
    for kind, profile in pool_kinds.GPU_PROFILES.items():
        if profile is None:
            assert kind == "cpu"
            continue
        assert (profile.driver_mode is not None) == (profile.management_mode == "Managed")
        assert profile.management_mode == "Unmanaged" or profile.driver == "Install"
