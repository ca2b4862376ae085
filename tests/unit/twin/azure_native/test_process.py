import os
import signal
import subprocess
import sys

import grpc
import pytest
from google.protobuf import empty_pb2

from twin.azure_native.protocol import provider_pb2, provider_pb2_grpc
from twin.azure_native.values import to_struct
from twin.paths import CHECKOUT


@pytest.fixture
def plugin(tmp_path):
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PYTHONPATH": str(CHECKOUT)}
    process = subprocess.Popen(
        [sys.executable, "-m", "twin.azure_native", "-v=9", "127.0.0.1:1"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    yield process
    process.kill()
    process.wait()


def test_it_serves_the_protocol_and_ends_silently(plugin):
    stub = provider_pb2_grpc.ResourceProviderStub(
        grpc.insecure_channel(f"127.0.0.1:{plugin.stdout.readline().strip()}")
    )
    assert stub.GetPluginInfo(empty_pb2.Empty()).version.startswith("3.")
    handshake = stub.Handshake(provider_pb2.ProviderHandshakeRequest(engine_address="127.0.0.1:1"))
    assert handshake.supports_autonaming_configuration
    assert not handshake.accept_secrets
    with pytest.raises(grpc.RpcError, match="AKSGPU_ARM_ENDPOINT is not set"):
        stub.Configure(provider_pb2.ConfigureRequest())
    with pytest.raises(grpc.RpcError, match="before it was configured"):
        stub.Invoke(provider_pb2.InvokeRequest(tok="azure-native:resources:getResourceGroup", args=to_struct({})))
    plugin.send_signal(signal.SIGINT)
    out, err = plugin.communicate(timeout=20)
    assert (plugin.returncode, out, err) == (0, "", "")


def test_starting_does_not_load_the_whole_sdk():
    program = "import sys, twin.azure_native.server as s; print('pulumi' in sys.modules, 'azure' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=CHECKOUT)
    assert done.stdout.split() == ["False", "False"]
