"""What a pack loads: it starts for every preview, in an environment that has no Azure or Kubernetes libraries."""

import json
import subprocess
import sys

SCRIPT = """
import json, sys
import aksgpu.packs
aksgpu.packs.guardrails(), aksgpu.packs.advice()
print(json.dumps(sorted(sys.modules)))
"""


def test_a_pack_loads_only_what_its_requirements_have():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    loaded = json.loads(done.stdout)
    heavy = ("azure", "pulumi_azure_native", "pulumi_kubernetes", "lightkube", "httpx2", "cyclopts", "rich", "ruamel")
    assert "aksgpu.rules.book" in loaded
    assert [name for name in loaded if name.split(".")[0] in heavy] == []
    others = ("cli", "components", "reporters", "settings", "stack")
    assert [name for name in loaded if name.startswith(tuple(f"aksgpu.{other}" for other in others))] == []
