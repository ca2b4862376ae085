"""The thin Python language host, driven by the real engine, and directly where the engine can't go."""

import json
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import grpc
import psutil
import pytest
from google.protobuf import struct_pb2
from pulumi.runtime.proto import language_pb2, language_pb2_grpc

from twin import toolchain

PROGRAM = """
import os, sys
import pulumi
print("said to stdout")
print("said to stderr", file=sys.stderr)
pulumi.log.info("logged")
config = pulumi.Config()
pulumi.export("plain", config.get("plain"))
pulumi.export("secret", config.get_secret("hidden"))
pulumi.export("prefix", sys.prefix)
pulumi.export("cwd", os.getcwd())
pulumi.export("names", [pulumi.get_organization(), pulumi.get_project(), pulumi.get_stack()])
"""
PACK = """
import sys
from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy
def check(args, report):
    report(f"judged by {sys.prefix}")
PolicyPack("pack", policies=[ResourceValidationPolicy("p", "d", check, EnforcementLevel.MANDATORY)])
"""


@dataclass(frozen=True)
class Engine:
    """The engine with our language host on PATH, in a folder of its own."""

    folder: Path
    environment: dict[str, str]
    host: Path

    def run(self, *arguments: str, cwd: Path, ok: bool = True) -> str:
        done = subprocess.run(
            ["pulumi", *arguments, "--non-interactive"],
            cwd=cwd,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        output = done.stdout + done.stderr
        assert (done.returncode == 0) is ok, output
        return output

    def project(self, name: str, program: str, runtime: str = "python") -> Path:
        folder = self.folder / name
        folder.mkdir()
        (folder / "Pulumi.yaml").write_text(f"name: {folder.name}\nruntime: {runtime}\n")
        (folder / "__main__.py").write_text(program)
        self.run("stack", "init", "dev", cwd=folder)
        return folder


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    tools = toolchain.ensure(print, ("pulumi", "pulumi-language-python"))
    paths = [tool.path for tool in tools.values() if tool.path]
    folder = tmp_path_factory.mktemp("engine")
    (folder / "state").mkdir()
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([*(str(path.parent) for path in paths), os.environ["PATH"]]),
        "PULUMI_HOME": str(folder / "home"),
        "PULUMI_BACKEND_URL": f"file://{folder / 'state'}",
        "PULUMI_CONFIG_PASSPHRASE": "test",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "VIRTUAL_ENV": sys.prefix,
        "TMPDIR": str(folder),
    }
    return Engine(folder, environment, paths[1])


def make_environment(folder: Path) -> Path:
    """Make a virtual environment that finds the packages of this one."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    site = next(path for path in sys.path if path.endswith("site-packages"))
    next(folder.glob("lib/*/site-packages")).joinpath("shared.pth").write_text(site)
    return folder


def eventually(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_a_program_gets_its_configuration_and_what_it_says_is_shown(engine: Engine) -> None:
    project = engine.project("program", PROGRAM)
    engine.run("config", "set", "plain", "1", cwd=project)
    engine.run("config", "set", "--secret", "hidden", "2", cwd=project)
    shown = engine.run("up", "--yes", "--skip-preview", cwd=project)
    for text in ("said to stdout", "said to stderr", "logged"):
        assert text in shown
    assert "warning" not in shown
    outputs = json.loads(engine.run("stack", "output", "--json", "--show-secrets", cwd=project))
    assert outputs == {
        "plain": "1",
        "secret": "2",
        "prefix": sys.prefix,
        "cwd": str(project),
        "names": ["organization", "program", "dev"],
    }


def test_a_pack_runs_in_its_own_environment(engine: Engine) -> None:
    project = engine.project("judged", "")
    pack = engine.folder / "pack"
    pack.mkdir()
    (pack / "PulumiPolicy.yaml").write_text("runtime: {name: python, options: {virtualenv: venv}}\n")
    (pack / "__main__.py").write_text(PACK)
    missing = engine.run("preview", "--policy-pack", str(pack), cwd=project, ok=False)
    assert f"there is no virtual environment in {pack / 'venv'}: run `pulumi install` in {pack}" in missing
    make_environment(pack / "venv")
    assert f"judged by {pack / 'venv'}" in engine.run("preview", "--policy-pack", str(pack), cwd=project, ok=False)


@pytest.mark.parametrize(
    ("name", "options", "complaint"),
    [
        ("absent", "virtualenv: nowhere", "there is no virtual environment in {folder}/nowhere: run `pulumi install`"),
        ("no-lock", "toolchain: uv", "no uv.lock is in {folder} or above it: run `uv lock`"),
        ("poetry", "toolchain: poetry", "the runtime option toolchain: poetry isn't supported"),
        ("checked", "typechecker: mypy", "the runtime option typechecker: mypy isn't supported"),
    ],
)
def test_options_that_cannot_be_honoured_are_named(engine: Engine, name: str, options: str, complaint: str) -> None:
    project = engine.project(name, "", f"{{name: python, options: {{{options}}}}}")
    shown = engine.run("preview", cwd=project, ok=False)
    assert complaint.format(folder=project) in shown
    assert "unhandled" not in shown


def test_the_uv_toolchain_uses_the_environment_beside_the_lock_file(engine: Engine) -> None:
    root = engine.folder / "uv-root"
    root.mkdir()
    (root / "uv.lock").write_text("")
    make_environment(root / ".venv")
    program = "import pulumi, sys; pulumi.export('prefix', sys.prefix)"
    project = engine.project("uv-root/inner", program, "{name: python, options: {toolchain: uv}}")
    assert str(root / ".venv") in engine.run("preview", cwd=project)


def test_a_program_that_fails_says_how(engine: Engine) -> None:
    project = engine.project("failing", "raise ValueError('boom')")
    shown = engine.run("preview", cwd=project, ok=False)
    assert "ValueError: boom" in shown
    assert "ended with" not in shown
    (project / "__main__.py").write_text("import sys; sys.exit(3)")
    assert "the program ended with exit status 3" in engine.run("preview", cwd=project, ok=False)


def test_pulumi_install_makes_the_environment_and_fills_it(engine: Engine) -> None:
    project = engine.project("installed", "", "{name: python, options: {virtualenv: venv}}")
    (project / "requirements.txt").write_text("# nothing to fetch\n")
    engine.run("install", cwd=project)
    assert (project / "venv" / "bin" / "python").exists()


def test_a_component_provider_tells_its_schema(engine: Engine) -> None:
    folder = engine.folder / "provider"
    folder.mkdir()
    (folder / "PulumiPlugin.yaml").write_text("runtime: python\n")
    (folder / "__main__.py").write_text(
        textwrap.dedent("""
        from typing import Optional, TypedDict
        import pulumi
        from pulumi.provider.experimental import component_provider_host
        class ThingArgs(TypedDict):
            size: pulumi.Input[int]
        class Thing(pulumi.ComponentResource):
            size: pulumi.Output[int]
            def __init__(self, name: str, args: ThingArgs, opts: Optional[pulumi.ResourceOptions] = None):
                super().__init__("things:index:Thing", name, {}, opts)
        component_provider_host([Thing], "things")
        """)
    )
    schema = json.loads(engine.run("package", "get-schema", str(folder), cwd=engine.folder))
    assert schema["resources"]["things:index:Thing"]["requiredInputs"] == ["size"]


WAITING = """
import os, pathlib, subprocess, sys, time
helper = subprocess.Popen(["sleep", "600"])
pathlib.Path(sys.argv[0]).parent.joinpath("pids").write_text(f"{os.getpid()} {helper.pid}")
time.sleep(600)
"""


@pytest.mark.parametrize("how", ["interrupted", "killed"])
def test_nothing_outlives_the_engine(engine: Engine, how: str) -> None:
    program = WAITING.replace("sys.argv[0]", repr(str(engine.folder / how / "__main__.py")))
    project = engine.project(how, program)
    with subprocess.Popen(
        ["pulumi", "preview", "--non-interactive"],
        cwd=project,
        env=engine.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as running:
        eventually(lambda: (project / "pids").exists() and " " in (project / "pids").read_text())
        program_pid, helper_pid = map(int, (project / "pids").read_text().split())
        host = psutil.Process(program_pid).parent()
        assert host is not None
        assert host.name() == "pulumi-language-python"
        if how == "killed":
            running.kill()
        else:
            running.send_signal(2)
        assert running.stdout is not None
        shown = running.stdout.read()
    assert "Traceback" not in shown
    assert "KeyboardInterrupt" not in shown
    for pid in (program_pid, helper_pid, host.pid):
        eventually(lambda pid=pid: gone(pid))


@pytest.fixture
def host(engine: Engine) -> Iterator[language_pb2_grpc.LanguageRuntimeStub]:
    with subprocess.Popen(
        [engine.host, "--logtostderr", "-v=9", "127.0.0.1:1"],
        stdout=subprocess.PIPE,
        env=engine.environment,
        text=True,
    ) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield language_pb2_grpc.LanguageRuntimeStub(channel)
        process.terminate()
        assert process.stdout.read() == ""
        assert process.wait(60) == 0


def info(folder: Path, **options: str) -> language_pb2.ProgramInfo:
    fields = struct_pb2.Struct()
    fields.update(options)
    return language_pb2.ProgramInfo(
        root_directory=str(folder), program_directory=str(folder), entry_point=".", options=fields
    )


@pytest.mark.parametrize(
    ("kind", "complaint"),
    [("converter", 'not plugins of kind "converter"'), ("resource", "has no __main__.py")],
)
def test_plugins_it_cannot_run_are_refused(
    host: language_pb2_grpc.LanguageRuntimeStub, tmp_path: Path, kind: str, complaint: str
) -> None:
    with pytest.raises(grpc.RpcError, match=complaint):
        list(host.RunPlugin(language_pb2.RunPluginRequest(kind=kind, info=info(tmp_path))))


def test_a_plugins_output_and_exit_code_arrive(host: language_pb2_grpc.LanguageRuntimeStub, tmp_path: Path) -> None:
    (tmp_path / "__main__.py").write_text(
        "import os, sys; print(os.environ['GIVEN'], sys.argv[1]); print('err', file=sys.stderr); sys.exit(7)"
    )
    request = language_pb2.RunPluginRequest(
        kind="resource", info=info(tmp_path), pwd=str(tmp_path), args=["argument"], env=["GIVEN=given"]
    )
    answers = list(host.RunPlugin(request))
    assert b"".join(answer.stdout for answer in answers) == b"given argument\n"
    assert b"".join(answer.stderr for answer in answers) == b"err\n"
    assert answers[-1].exitcode == 7


def test_a_plugin_ends_when_the_engine_has_enough_of_it(
    host: language_pb2_grpc.LanguageRuntimeStub, tmp_path: Path
) -> None:
    (tmp_path / "__main__.py").write_text("import os, time; print(os.getpid()); time.sleep(600)")
    stream = host.RunPlugin(language_pb2.RunPluginRequest(kind="resource", info=info(tmp_path), pwd=str(tmp_path)))
    pid = int(next(stream).stdout)
    assert not gone(pid)
    stream.cancel()
    eventually(lambda: gone(pid))


def test_about_and_dependencies(host: language_pb2_grpc.LanguageRuntimeStub, tmp_path: Path) -> None:
    about = host.About(language_pb2.AboutRequest(info=info(tmp_path)))
    assert about.executable == f"{sys.prefix}/bin/python"
    assert about.version == ".".join(map(str, sys.version_info[:3]))

    def names(*, transitive: bool) -> set[str]:
        request = language_pb2.GetProgramDependenciesRequest(info=info(tmp_path), transitiveDependencies=transitive)
        return {dependency.name for dependency in host.GetProgramDependencies(request).dependencies}

    assert {"pulumi", "pytest"} <= names(transitive=True)
    assert "grpcio" in names(transitive=True) - names(transitive=False)
