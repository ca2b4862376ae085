"""The secrets of a twin: bearer token, certificate authority, server certificate, passphrase."""

import os
import secrets
import ssl

import trustme

from twin.files import replace_text
from twin.paths import TwinFolder

PASSPHRASE = "aksgpu-twin"  # noqa: S105
"""Protects nothing: stacks of a twin hold no secret of anyone. It is fixed so that the salt committed in
`Pulumi.dev.yaml` fits every twin and Pulumi has no reason to rewrite that file."""


def provide(folder: TwinFolder) -> None:
    """Create what is missing; what is there stays, so that restarts don't invalidate running clients."""
    if not (folder.token.exists() and token(folder)):
        replace_text(folder.token, secrets.token_urlsafe(32))
    if not folder.passphrase.exists():
        replace_text(folder.passphrase, PASSPHRASE)
    if not _usable_certificates(folder):
        authority = trustme.CA(organization_name="aksgpu twin")
        certificate = authority.issue_cert("127.0.0.1", "localhost")
        chain = b"".join(blob.bytes() for blob in certificate.cert_chain_pems)
        replace_text(folder.server_certificate, (certificate.private_key_pem.bytes() + chain).decode())
        replace_text(folder.ca, authority.cert_pem.bytes().decode())


def _usable_certificates(folder: TwinFolder) -> bool:
    """Tell whether both files are there and hold what they should; damaged ones are simply made anew."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_verify_locations(folder.ca)
        context.load_cert_chain(folder.server_certificate)
    except OSError:  # an SSLError is one, too
        return False
    return True


def token(folder: TwinFolder) -> str:
    """Return the bearer token of the twin's Azure endpoint."""
    return folder.token.read_text().strip()


def make_private(folder: TwinFolder) -> None:
    """Create the twin's folder and sub-folders for their owner only."""
    for path in (
        folder.root,
        folder.clusters,
        folder.pulumi_home,
        folder.pulumi_backend,
        folder.temporary,
        folder.bin,
    ):
        path.mkdir(parents=True, exist_ok=True)
        os.chmod(path, 0o700)  # noqa: PTH101 - mkdir's mode does not hold for folders that exist
