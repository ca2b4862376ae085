"""Where the twin keeps things.

Two roots, both outside any checkout: a cache for what is slow to build (shared by all checkouts, keyed by
pins) and a state folder with one sub-folder per twin. Each can be moved by an environment variable.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from twin.errors import TwinError

CHECKOUT = Path(__file__).resolve().parent.parent
"""The checkout this code runs from."""

DEFAULT_NAME = "default"
"""The twin that commands mean when no --name is given."""

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,30}")


def cache_root() -> Path:
    """Folder for built tools; `AKSGPU_CACHE_HOME` moves it."""
    return Path(os.environ.get("AKSGPU_CACHE_HOME") or platformdirs.user_cache_path("aksgpu"))


def state_root() -> Path:
    """Folder for everything a twin remembers; `AKSGPU_STATE_HOME` moves it."""
    return Path(os.environ.get("AKSGPU_STATE_HOME") or platformdirs.user_state_path("aksgpu"))


@dataclass(frozen=True)
class TwinFolder:
    """The folder of one twin and the names inside it."""

    root: Path

    @classmethod
    def of(cls, name: str) -> "TwinFolder":
        """Return the folder of the twin called `name`; raises TwinError when the name can't be one."""
        if not NAME.fullmatch(name):
            raise TwinError(
                f"'{name}' can't be the name of a twin. Use 1 to 31 lower-case letters, digits and dashes, "
                "starting with a letter or digit."
            )
        return cls(state_root() / "twins" / name)

    @property
    def name(self) -> str:
        """The twin's name."""
        return self.root.name

    @property
    def settings(self) -> Path:
        """JSON: the port of the Azure endpoint, kept over restarts, and the seed file given at start."""
        return self.root / "twin.json"

    @property
    def token(self) -> Path:
        """The bare bearer token of the Azure endpoint, mode 0600."""
        return self.root / "token"

    @property
    def ca(self) -> Path:
        """The twin's own certificate authority (PEM)."""
        return self.root / "ca.pem"

    @property
    def server_certificate(self) -> Path:
        """Certificate chain and key of the Azure endpoint (PEM), mode 0600."""
        return self.root / "server.pem"

    @property
    def database(self) -> Path:
        """SQLite: what the Azure endpoint has accepted."""
        return self.root / "azure.sqlite"

    @property
    def faults(self) -> Path:
        """JSON object: the faults switched on, name to argument or null."""
        return self.root / "faults.json"

    @property
    def daemon(self) -> Path:
        """JSON: pid and start time of the running daemon."""
        return self.root / "daemon.json"

    @property
    def daemon_lock(self) -> Path:
        """Held by the daemon as long as it lives."""
        return self.root / "daemon.lock"

    @property
    def start_lock(self) -> Path:
        """Held by whoever starts, stops or forgets the twin; beside the folder, which forgetting deletes."""
        return self.root.parent / f".{self.name}.lock"

    @property
    def log(self) -> Path:
        """What the daemon says."""
        return self.root / "daemon.log"

    @property
    def clusters(self) -> Path:
        """One sub-folder per cluster: data and logs of its control plane."""
        return self.root / "clusters"

    @property
    def kubeconfig(self) -> Path:
        """The kubeconfig that `twin exec` hands out."""
        return self.root / "kubeconfig"

    @property
    def pulumi_home(self) -> Path:
        """PULUMI_HOME of commands run in the twin."""
        return self.root / "pulumi-home"

    @property
    def pulumi_backend(self) -> Path:
        """State backend of commands run in the twin."""
        return self.root / "pulumi-state"

    @property
    def passphrase(self) -> Path:
        """File with the passphrase of the twin's stacks."""
        return self.root / "passphrase"

    @property
    def temporary(self) -> Path:
        """TMPDIR of commands run in the twin."""
        return self.root / "tmp"

    @property
    def bin(self) -> Path:
        """Put first on the PATH of commands run in the twin: links to the tools and the plugins."""
        return self.root / "bin"
