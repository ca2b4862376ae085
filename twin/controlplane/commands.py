"""The command lines of the programs of a control plane."""

from pathlib import Path

from twin.controlplane.certificates import SERVICE_ADDRESSES, Certificates
from twin.controlplane.ports import Ports


def etcd(folder: Path, certificates: Certificates, ports: Ports) -> list[str | Path]:
    """Return etcd's arguments; only holders of a certificate of this control plane can read or write."""
    url = f"https://127.0.0.1:{ports.etcd}"
    return [
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={url}",
        f"--advertise-client-urls={url}",
        "--listen-peer-urls=https://127.0.0.1:0",  # a single member talks to no peer
        # The machine's own crash may lose the last writes of this stand-in; a killed process loses nothing.
        "--unsafe-no-fsync",
        "--log-level=warn",
        *_etcd_tls(certificates, ""),
        *_etcd_tls(certificates, "peer-"),
    ]


def apiserver(certificates: Certificates, ports: Ports, version: str) -> list[str | Path]:
    """Return kube-apiserver's arguments for a cluster at `version`, e.g. 1.35.4."""
    return [
        f"--etcd-servers=https://127.0.0.1:{ports.etcd}",
        f"--etcd-cafile={certificates.certificate('ca')}",
        f"--etcd-certfile={certificates.certificate('kube-apiserver')}",
        f"--etcd-keyfile={certificates.key('kube-apiserver')}",
        f"--secure-port={ports.apiserver}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        "--endpoint-reconciler-type=none",  # endpoints can't hold a loopback address
        f"--tls-cert-file={certificates.certificate('server')}",
        f"--tls-private-key-file={certificates.key('server')}",
        f"--client-ca-file={certificates.certificate('ca')}",
        f"--kubelet-certificate-authority={certificates.certificate('ca')}",
        f"--kubelet-client-certificate={certificates.certificate('kube-apiserver')}",
        f"--kubelet-client-key={certificates.key('kube-apiserver')}",
        "--kubelet-preferred-address-types=InternalIP",
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
        f"--service-account-key-file={certificates.service_accounts_public}",
        f"--service-account-signing-key-file={certificates.key('service-accounts')}",
        f"--service-cluster-ip-range={SERVICE_ADDRESSES}",
        "--authorization-mode=Node,RBAC",
        "--allow-privileged=true",
        # It taints each new node as not ready, and the node lifecycle controller, which takes that taint
        # off, does not run here: the simulated kubelets say themselves what a node's taints are.
        "--disable-admission-plugins=TaintNodesByCondition",
        "--profiling=false",
        f"--emulated-version={_emulated(version)}",
        f"--cluster-version={version}",
    ]


def scheduler(certificates: Certificates, version: str) -> list[str | Path]:
    """Return kube-scheduler's arguments."""
    kubeconfig = certificates.kubeconfig_file("kube-scheduler")
    return [
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        *_client_flags(kubeconfig, version),
    ]


def controller_manager(certificates: Certificates, version: str) -> list[str | Path]:
    """Return kube-controller-manager's arguments."""
    return [
        f"--root-ca-file={certificates.certificate('ca')}",
        f"--service-account-private-key-file={certificates.key('service-accounts')}",
        "--use-service-account-credentials=false",
        # The node lifecycle controller needs kubelets that renew leases; the other two serve kubeadm.
        "--controllers=*,-node-lifecycle-controller,-bootstrap-signer-controller,-token-cleaner-controller",
        *_client_flags(certificates.kubeconfig_file("kube-controller-manager"), version),
    ]


def nodes(folder: Path, certificates: Certificates, ports: Ports) -> list[str | Path]:
    """Return the arguments of the simulated kubelets."""
    return [
        f"--kubeconfig={certificates.kubeconfig_file('aksgpu-nodes')}",
        f"--plan={folder / 'nodes.json'}",
        f"--listen=127.0.0.1:{ports.kubelets}",
        f"--tls-cert={certificates.certificate('server')}",
        f"--tls-key={certificates.key('server')}",
        f"--client-ca={certificates.certificate('ca')}",
    ]


def _client_flags(kubeconfig: Path, version: str) -> list[str | Path]:
    return [
        f"--kubeconfig={kubeconfig}",
        "--secure-port=0",
        "--leader-elect=false",
        # The defaults bind about 10 pods a second.
        "--kube-api-qps=1000",
        "--kube-api-burst=1000",
        f"--emulated-version={_emulated(version)}",
    ]


def _etcd_tls(certificates: Certificates, prefix: str) -> list[str | Path]:
    return [
        f"--{prefix}cert-file={certificates.certificate('server')}",
        f"--{prefix}key-file={certificates.key('server')}",
        f"--{prefix}trusted-ca-file={certificates.certificate('ca')}",
        f"--{prefix}client-cert-auth",
    ]


def _emulated(version: str) -> str:
    major, minor, _ = version.split(".")
    return f"kube={major}.{minor}"
