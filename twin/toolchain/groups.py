"""What is built from which pinned Go module.

The versions are those in the `go.mod` files, and of the Kubernetes provider that of the Python SDK it
serves; nothing here repeats them.
"""

import hashlib
import importlib.metadata
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from twin.errors import TwinError
from twin.paths import CHECKOUT

_TWIN = CHECKOUT / "twin"
_PULUMI_SDK = "github.com/pulumi/pulumi/sdk/v3"
_KUBERNETES_PROVIDER = "github.com/pulumi/pulumi-kubernetes/provider/v4"


@dataclass(frozen=True)
class Program:
    """One program of a group."""

    name: str
    package: str
    """The Go package with its `main`."""
    minutes: float
    """How long a first build took on 2 cores, downloads included."""


@dataclass(frozen=True)
class Copy:
    """A file that a module ships and that has to lie beside sources or programs."""

    module: str
    path: str
    """Inside the module."""
    beside: str
    """`sources` (to be embedded) or `programs`."""


@dataclass(frozen=True)
class Group:
    """Programs that are built together from one Go module of this project."""

    name: str
    module: Path
    """Folder with go.mod, go.sum and perhaps sources."""
    programs: tuple[Program, ...]
    version: Callable[["Group"], str]
    linker: tuple[str, ...] = ()
    """Variables set by the linker; `{version}`, `{major}` and `{minor}` are filled in."""
    flags: tuple[str, ...] = ()
    copies: tuple[Copy, ...] = field(default=())

    def build_flags(self) -> list[str]:
        """Return the flags of `go build`."""
        version = self.version(self)
        major, minor = version.split(".")[:2] if "." in version else (version, "0")
        words = [f"-X {word.format(version=version, major=major, minor=minor)}" for word in self.linker]
        return ["-trimpath", *self.flags, "-ldflags", " ".join(["-s -w", *words])]

    def fingerprint(self, environment: str) -> str:
        """Return a digest of all that decides what the build makes; `environment` names Go and platform."""
        digest = hashlib.sha256()
        for word in (environment, *self.build_flags(), *map(repr, self.copies), *map(repr, self.programs)):
            digest.update(f"{word}\0".encode())
        for path in self.sources():
            digest.update(f"{path.relative_to(self.module)}\0".encode())
            digest.update(path.read_bytes() + b"\0")
        return digest.hexdigest()[:12]

    def sources(self) -> Iterator[Path]:
        """Yield the files that are compiled, in a fixed order."""
        for path in sorted(self.module.rglob("*")):
            if path.name in ("go.mod", "go.sum") or (path.suffix == ".go" and not path.name.endswith("_test.go")):
                yield path


def pinned(go_mod: Path, module: str) -> str:
    """Return the version, without the v, at which the file `go_mod` requires `module`."""
    match = re.search(rf"^\s*(?:require )?{re.escape(module)} v(\S+)", go_mod.read_text(), re.MULTILINE)
    if match is None:
        raise TwinError(f"{go_mod} does not require {module}, so its version isn't known. Restore that file.")
    return match[1]


def oldest_go(go_mod: Path) -> str:
    """Return the oldest Go version that may build the module, e.g. `1.26.6`."""
    match = re.search(r"^go (\S+)$", go_mod.read_text(), re.MULTILINE)
    if match is None:
        raise TwinError(f"{go_mod} has no `go` line. Restore that file.")
    return match[1]


def _pin(module: str) -> Callable[[Group], str]:
    return lambda group: pinned(group.module / "go.mod", module)


GROUPS: tuple[Group, ...] = (
    Group(
        "etcd",
        _TWIN / "tools" / "etcd",
        (Program("etcd", "go.etcd.io/etcd/server/v3", 1.0),),
        _pin("go.etcd.io/etcd/server/v3"),
    ),
    Group(
        "kubernetes",
        _TWIN / "tools" / "kubernetes",
        (
            Program("kube-apiserver", "./kube-apiserver", 3.2),
            Program("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler", 0.3),
            Program("kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager", 0.7),
            Program("kubectl", "k8s.io/kubernetes/cmd/kubectl", 0.3),
        ),
        _pin("k8s.io/kubernetes"),
        linker=(
            "k8s.io/component-base/version.gitVersion=v{version}",
            "k8s.io/component-base/version.gitMajor={major}",
            "k8s.io/component-base/version.gitMinor={minor}",
        ),
    ),
    Group(
        "nodes",
        _TWIN / "nodes",
        (Program("aksgpu-nodes", ".", 0.5),),
        _pin("k8s.io/client-go"),
    ),
    Group(
        "pulumi",
        _TWIN / "tools" / "pulumi",
        (Program("pulumi", "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi", 3.5),),
        _pin("github.com/pulumi/pulumi/pkg/v3"),
        linker=("github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v{version}",),
        flags=("-tags", "osusergo,grpcnotrace"),
    ),
    Group(
        "language-host",
        _TWIN / "language_host",
        (Program("pulumi-language-python", ".", 0.2),),
        _pin(_PULUMI_SDK),
        linker=("main.version={version}",),
        copies=(Copy(_PULUMI_SDK, "python/cmd/pulumi-language-python-exec", "programs"),),
    ),
    Group(
        "kubernetes-provider",
        _TWIN / "tools" / "kubernetes-provider",
        (Program("pulumi-resource-kubernetes", ".", 5.6),),
        lambda _: importlib.metadata.version("pulumi-kubernetes"),
        linker=("main.version={version}",),
        copies=(
            Copy(_KUBERNETES_PROVIDER, "cmd/pulumi-resource-kubernetes/schema.json", "sources"),
            Copy(_KUBERNETES_PROVIDER, "cmd/pulumi-resource-kubernetes/terraform-mapping.json", "sources"),
        ),
    ),
    Group(
        "pulumi-yaml",
        _TWIN / "tools" / "pulumi-yaml",
        (Program("pulumi-language-yaml", "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml", 0.5),),
        _pin("github.com/pulumi/pulumi-yaml"),
        linker=("github.com/pulumi/pulumi-yaml/pkg/version.Version=v{version}",),
    ),
)
