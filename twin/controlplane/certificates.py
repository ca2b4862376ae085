"""The certificates, keys and kubeconfigs of one control plane, all from an authority of its own."""

import base64
from pathlib import Path
from typing import Any

import trustme
import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from twin.files import replace_text

SERVICE_ADDRESSES = "10.0.0.0/16"
"""The service network that AKS gives a cluster by default."""

_SERVER_NAMES = (
    "127.0.0.1",
    "10.0.0.1",
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)
_UNIT = "twin control plane"
_MASTERS = "system:masters"
_CLIENTS = {
    # certificate: (user name, group)
    # AKS: without Entra ID both credentials that Azure hands out are administrators.
    "admin": ("clusterAdmin", _MASTERS),
    "user": ("clusterUser", _MASTERS),
    "kube-apiserver": ("kube-apiserver", _MASTERS),
    "kube-scheduler": ("system:kube-scheduler", "aksgpu twin"),
    # One identity for all controllers, instead of one service account and client each, keeps it small.
    "kube-controller-manager": ("system:kube-controller-manager", _MASTERS),
    "aksgpu-nodes": ("aksgpu-nodes", _MASTERS),
}


class Certificates:
    """The folder `certs` of a control plane.

    `ca.crt` signs everything; `server.crt` is served by etcd, the API server and the kubelets, which all
    listen on loopback; each client has its own; `service-accounts.key` signs service account tokens.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def certificate(self, name: str) -> Path:
        """Return the PEM file with the certificate called `name`, e.g. `ca` or `admin`."""
        return self._folder / f"{name}.crt"

    def key(self, name: str) -> Path:
        """Return the PEM file with the private key of `name`."""
        return self._folder / f"{name}.key"

    @property
    def service_accounts_public(self) -> Path:
        """PEM: the public half of the key that signs service account tokens."""
        return self._folder / "service-accounts.pub"

    def kubeconfig_file(self, client: str) -> Path:
        """Return the kubeconfig file of a part of the control plane."""
        return self._folder / f"{client}.kubeconfig"

    def provide(self) -> None:
        """Create what is missing; what exists stays, since kubeconfigs and tokens were handed out with it."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        authority = self._authority()
        if not self.key("server").exists():
            leaf = authority.issue_cert(*_SERVER_NAMES, common_name="kube-apiserver", organization_unit_name=_UNIT)
            self._write("server", leaf)
        for name, (user, group) in _CLIENTS.items():
            if not self.key(name).exists():
                # Go's TLS refuses a certificate without a name, also a client's.
                leaf = authority.issue_cert(
                    name, common_name=user, organization_name=group, organization_unit_name=_UNIT
                )
                self._write(name, leaf)
        if not self.key("service-accounts").exists():
            self._write_service_account_key()

    def kubeconfig(self, client: str, server: str, cluster: str) -> dict[str, Any]:
        """Return the kubeconfig of `client` for the API server at the URL `server`, credentials inside."""
        user = _CLIENTS[client][0]
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": cluster,
                    "cluster": {
                        "server": server,
                        "certificate-authority-data": _base64(self.certificate("ca")),
                    },
                }
            ],
            "users": [
                {
                    "name": user,
                    "user": {
                        "client-certificate-data": _base64(self.certificate(client)),
                        "client-key-data": _base64(self.key(client)),
                    },
                }
            ],
            "contexts": [{"name": cluster, "context": {"cluster": cluster, "user": user}}],
            "current-context": cluster,
        }

    def write_kubeconfigs(self, server: str, cluster: str) -> None:
        """Write the kubeconfig files of the parts of the control plane that are clients of its API server."""
        for client in ("kube-scheduler", "kube-controller-manager", "aksgpu-nodes"):
            text = yaml.safe_dump(self.kubeconfig(client, server, cluster), sort_keys=False)
            replace_text(self.kubeconfig_file(client), text)

    def _authority(self) -> trustme.CA:
        certificate, key = self.certificate("ca"), self.key("ca")
        if key.exists():
            return trustme.CA.from_pem(certificate.read_bytes(), key.read_bytes())
        authority = trustme.CA(organization_name="aksgpu twin", organization_unit_name=_UNIT)
        # The key comes last everywhere: a key on disk says that the pair is complete.
        replace_text(certificate, authority.cert_pem.bytes().decode())
        replace_text(key, authority.private_key_pem.bytes().decode())
        return authority

    def _write(self, name: str, leaf: trustme.LeafCert) -> None:
        replace_text(self.certificate(name), "".join(blob.bytes().decode() for blob in leaf.cert_chain_pems))
        replace_text(self.key(name), leaf.private_key_pem.bytes().decode())

    def _write_service_account_key(self) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        private = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
        replace_text(self.service_accounts_public, public.decode())
        replace_text(self.key("service-accounts"), private.decode())


def _base64(file: Path) -> str:
    return base64.b64encode(file.read_bytes()).decode()
