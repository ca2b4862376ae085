"""Tools that are on PATH already, and whether they are good enough."""

import contextlib
import functools
import json
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from twin.files import replace_text
from twin.paths import cache_root, state_root
from twin.toolchain import provider_version
from twin.toolchain.groups import PROGRAMS

_PROBE_SECONDS = 20.0

Version = tuple[int, int, int]


@dataclass(frozen=True)
class Found:
    """A program on PATH; `refusal` says why it isn't used, and is empty when it is."""

    path: Path
    version: str = ""
    refusal: str = ""


def on_path(name: str) -> Found | None:
    """Return what PATH has under `name`, judged; None when it has nothing, or only what we built."""
    path = _which(name)
    if path is None or name not in _judges():
        return None
    return _judges()[name](path)


def _which(name: str) -> Path | None:
    ours = (cache_root().resolve(), state_root().resolve())
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = Path(folder or ".").absolute() / name
        # Inside `twin exec` PATH begins with a folder of links to our own tools.
        own = any(root in path.parents or root in path.resolve().parents for root in ours)
        if path.is_file() and os.access(path, os.X_OK) and not own:
            return path
    return None


def _judge(probe: Callable[[Path], str], suits: Callable[[Version], bool], want: str) -> Callable[[Path], Found]:
    """Return a judge that asks the program for its version and refuses all but plain ones that suit."""

    def judged(path: Path) -> Found:
        said = _remembered(path, probe)
        match = re.search(r"\bv?(\d+)\.(\d+)\.(\d+)([-+][0-9A-Za-z.+-]+)?", said)
        if match is None:
            return Found(path, refusal=f"{path} does not tell its version")
        version = "".join((".".join(match.group(1, 2, 3)), match[4] or ""))
        numbers = (int(match[1]), int(match[2]), int(match[3]))
        if (match[4] or "").startswith("-") or not suits(numbers):
            return Found(path, version, f"{path} is {version}; needed is {want}")
        return Found(path, version)

    return judged


def _asked(*arguments: str) -> Callable[[Path], str]:
    """Return a probe that runs the program with `arguments` and takes what it prints."""

    def probe(path: Path) -> str:
        try:
            done = subprocess.run(
                [path, *arguments],
                env={**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "true"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_PROBE_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return done.stdout

    return probe


def _remembered(path: Path, probe: Callable[[Path], str]) -> str:
    """Return what `probe` says, from the last time when the file is still the same: some take a second."""
    store = cache_root() / "tools" / "probes.json"
    file = path.stat()
    mark = [file.st_mtime_ns, file.st_size]
    try:
        known = json.loads(store.read_text())
        if known[str(path)]["mark"] == mark:
            return str(known[str(path)]["said"])
    except (OSError, ValueError, KeyError, TypeError):
        known = {}
    said = probe(path)
    # Without the memory the next look only takes longer.
    with contextlib.suppress(OSError):
        store.parent.mkdir(parents=True, exist_ok=True)
        replace_text(store, json.dumps({**known, str(path): {"mark": mark, "said": said}}))
    return said


def _with_pulumi(path: Path) -> Found:
    """Judge a language host: it belongs to the engine it was released with."""
    engine = on_path("pulumi")
    if engine is None or engine.refusal:
        return Found(path, refusal=f"{path} is used only together with a pulumi from PATH")
    return Found(path, engine.version)


def _api_server(path: Path) -> Found:
    return Found(path, refusal=f"{path} can't answer with each cluster's own version; ours can")


def _minor(name: str) -> int:
    return int(PROGRAMS[name].version.split(".")[1])


@functools.cache
def _judges() -> dict[str, Callable[[Path], Found]]:
    kubernetes = _minor("kube-apiserver")
    pulumi = _minor("pulumi")
    # The control plane emulates earlier minors, and how far back depends on its own.
    control_plane = _judge(
        _asked("--version"), lambda v: v[:2] == (1, kubernetes), f"a plain 1.{kubernetes}, like the API server"
    )
    return {
        "pulumi": _judge(_asked("version"), lambda v: v[0] == 3 and v[1] >= pulumi, f"3.{pulumi} or a newer 3"),
        "pulumi-language-python": _with_pulumi,
        "pulumi-language-yaml": _with_pulumi,
        "pulumi-resource-kubernetes": _judge(
            provider_version.ask, lambda v: v[0] == 4 and v[1] >= 30, "4.30 or a newer 4"
        ),
        "etcd": _judge(_asked("--version"), lambda v: v[0] == 3 and v[1] >= 6, "3.6 or a newer 3"),
        "kube-apiserver": _api_server,
        "kube-scheduler": control_plane,
        "kube-controller-manager": control_plane,
        "kubectl": _judge(
            _asked("version", "--client"),
            lambda v: v[0] == 1 and abs(v[1] - kubernetes) <= 1,
            f"a plain 1.{kubernetes - 1} to 1.{kubernetes + 1}",
        ),
    }
