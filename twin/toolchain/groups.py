"""What is built from which pinned Go module.

The versions are those in the `go.mod` files, and of the Kubernetes provider that of the Python SDK it
serves; nothing here repeats them.
"""

import hashlib
import importlib.metadata
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from twin.errors import TwinError
from twin.paths import CHECKOUT

_TWIN = CHECKOUT / "twin"
_PULUMI_SDK = "github.com/pulumi/pulumi/sdk/v3"
_KUBERNETES_PROVIDER = "github.com/pulumi/pulumi-kubernetes/provider/v4"
_PROVIDER_COMMAND = "cmd/pulumi-resource-kubernetes"


@dataclass(frozen=True)
class Copy:
    """A file that a module ships and that has to lie beside sources or programs."""

    module: str
    path: str
    """Inside the module."""
    beside: Literal["sources", "programs"]
    """Where sources lie it is embedded."""


@dataclass(frozen=True)
class Program:
    """One program, built from a Go module of this project."""

    name: str
    module: Path
    """Folder with go.mod, go.sum and perhaps sources."""
    package: str
    """The Go package with its `main`."""
    minutes: float
    """How long a first build took on 2 cores, downloads included."""
    pin: str
    """What gives the program its version: the Go module that go.mod requires, or `python:` and a package."""
    linker: tuple[str, ...] = ()
    """Variables set by the linker; `{version}`, `{major}` and `{minor}` are filled in."""
    flags: tuple[str, ...] = ()
    copies: tuple[Copy, ...] = ()

    @property
    def version(self) -> str:
        """The version that is built, without a leading v."""
        package = self.pin.removeprefix("python:")
        if package != self.pin:
            return importlib.metadata.version(package)
        return pinned(self.module / "go.mod", self.pin)

    def build_flags(self) -> list[str]:
        """Return the flags of `go build`."""
        major, minor = self.version.split(".")[:2]
        words = [f"-X {word.format(version=self.version, major=major, minor=minor)}" for word in self.linker]
        return ["-trimpath", *self.flags, "-ldflags", " ".join(["-s -w", *words])]


@dataclass(frozen=True)
class Group:
    """Programs that are built together and lie in one folder."""

    name: str
    programs: tuple[Program, ...]

    @property
    def modules(self) -> tuple[Path, ...]:
        """The modules of its programs, each once."""
        return tuple(dict.fromkeys(program.module for program in self.programs))

    def fingerprint(self, environment: str) -> str:
        """Return a digest of all that decides what the build makes; `environment` names Go and platform."""
        digest = hashlib.sha256(environment.encode())
        for program in self.programs:
            recipe = (program.name, program.package, program.copies, program.build_flags())
            digest.update(repr(recipe).encode())
        for module in self.modules:
            for path in sources(module):
                digest.update(f"{path.relative_to(module)}\0".encode())
                digest.update(path.read_bytes() + b"\0")
        return digest.hexdigest()[:12]


def sources(module: Path) -> Iterator[Path]:
    """Yield the files of a module that are compiled, in a fixed order."""
    for path in sorted(module.rglob("*")):
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


_KUBERNETES = _TWIN / "tools" / "kubernetes"
_KUBERNETES_VERSION = (
    "k8s.io/component-base/version.gitVersion=v{version}",
    "k8s.io/component-base/version.gitMajor={major}",
    "k8s.io/component-base/version.gitMinor={minor}",
)


def _kubernetes(name: str, package: str, minutes: float) -> Program:
    return Program(name, _KUBERNETES, package, minutes, "k8s.io/kubernetes", _KUBERNETES_VERSION)


GROUPS: tuple[Group, ...] = (
    Group(
        "etcd",
        (
            Program(
                "etcd",
                _TWIN / "tools" / "etcd",
                "go.etcd.io/etcd/server/v3",
                minutes=1.0,
                pin="go.etcd.io/etcd/server/v3",
            ),
        ),
    ),
    Group(
        "kubernetes",
        (
            _kubernetes("kube-apiserver", "./kube-apiserver", 3.2),
            _kubernetes("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler", 0.3),
            _kubernetes("kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager", 0.7),
            _kubernetes("kubectl", "k8s.io/kubernetes/cmd/kubectl", 0.3),
        ),
    ),
    Group(
        "nodes",
        (Program("aksgpu-nodes", _TWIN / "nodes", ".", minutes=0.5, pin="k8s.io/client-go"),),
    ),
    Group(
        "pulumi",
        (
            Program(
                "pulumi",
                _TWIN / "tools" / "pulumi",
                "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
                minutes=3.5,
                pin="github.com/pulumi/pulumi/pkg/v3",
                linker=("github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v{version}",),
                flags=("-tags", "osusergo,grpcnotrace"),
            ),
            # In one folder with the engine, which warns on every run about a language host from elsewhere.
            Program(
                "pulumi-language-python",
                _TWIN / "language_host",
                ".",
                minutes=0.2,
                pin=_PULUMI_SDK,
                linker=("main.version={version}",),
                copies=(Copy(_PULUMI_SDK, "python/cmd/pulumi-language-python-exec", "programs"),),
            ),
        ),
    ),
    Group(
        "kubernetes-provider",
        (
            Program(
                "pulumi-resource-kubernetes",
                _TWIN / "tools" / "kubernetes-provider",
                ".",
                minutes=5.6,
                pin="python:pulumi-kubernetes",
                linker=("main.version={version}",),
                copies=(
                    Copy(_KUBERNETES_PROVIDER, f"{_PROVIDER_COMMAND}/schema.json", "sources"),
                    Copy(_KUBERNETES_PROVIDER, f"{_PROVIDER_COMMAND}/terraform-mapping.json", "sources"),
                ),
            ),
        ),
    ),
    Group(
        "pulumi-yaml",
        (
            Program(
                "pulumi-language-yaml",
                _TWIN / "tools" / "pulumi-yaml",
                "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml",
                minutes=0.5,
                pin="github.com/pulumi/pulumi-yaml",
                linker=("github.com/pulumi/pulumi-yaml/pkg/version.Version=v{version}",),
            ),
        ),
    ),
)

PROGRAMS: dict[str, Program] = {program.name: program for group in GROUPS for program in group.programs}
