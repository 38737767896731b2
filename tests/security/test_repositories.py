"""A repository that is indexed, shown or worked in runs nothing of its own; what git knows of it is told all the same."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.cli_runs import CommandLine
from tests.interfaces.served import Served, serving
from tests.security.repositories import VECTORS, Canary, git, project

pytestmark = [
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed"),
    pytest.mark.skipif(os.name == "nt", reason="the canary is a shell script"),
]


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    (tmp_path / "home").mkdir()
    return CommandLine(capsys, tmp_path / "home", tmp_path / "data")


@pytest.fixture
def canary(tmp_path: Path) -> Canary:
    return Canary.made(tmp_path / "cage")


def rewrite(path: Path) -> None:
    """Other content of the same size: git must look into the file to tell that it changed."""
    path.write_text(path.read_text().replace("1", "7"))


def work(cli: CommandLine, root: Path) -> dict[str, Any]:
    """Every command that asks git, on a file that is being edited: what ``time out`` told last."""
    assert cli.run("code", "index", str(root)).code == 0
    began = cli.run("time", "in", "model", "work", "--directory", str(root))
    assert began.code == 0, began.err
    rewrite(root / "shop.py")
    ended = cli.run("time", "out", began.out.strip(), "done", "--json")
    assert ended.code == 0, ended.err
    for command in (
        ("code", "show", "total", "--json"),
        ("code", "show", "price"),
        ("code", "graph", "--root", str(root)),
        ("code", "export", "--root", str(root), "--output", str(root.parent / "out")),
        ("code", "index", str(root)),
    ):
        ran = cli.run(*command)
        assert ran.code == 0, (command, ran.err)
    told: dict[str, Any] = ended.json()
    return told


@pytest.mark.requirement("SEC-23")
@pytest.mark.parametrize("vector", VECTORS)
def test_no_command_runs_what_a_repository_configures(
    cli: CommandLine, canary: Canary, tmp_path: Path, vector: str
) -> None:
    if vector == "repository of another user" and os.geteuid() != 0:
        pytest.skip("only root gives files away")
    root = project(tmp_path / "repository")
    VECTORS[vector](root, canary)
    told = work(cli, root)
    assert not canary.has_sung
    assert "shop.py" in told["files"]


@pytest.mark.requirement("SEC-23")
@pytest.mark.parametrize("vector", ["filters", "process filter", "text conversion", "submodule", "fsmonitor"])
def test_no_request_runs_what_a_repository_configures(canary: Canary, tmp_path: Path, vector: str) -> None:
    root = project(tmp_path / "repository")
    VECTORS[vector](root, canary)
    with serving(tmp_path) as server:
        assert server.ask("POST", "/api/code/index", {"path": str(root)})[0] == 200
        task = _punch_in(server, root)
        rewrite(root / "shop.py")
        for path in ("/api/code/symbol?name=total&source=true", "/api/code/graph", "/api/code/file?file=shop.py"):
            status, said = server.ask("GET", path)
            assert status == 200, said
        status, said = server.ask("POST", f"/api/time/tasks/{task}/out", {"summary": "done"})
        assert status == 200, said
        assert "shop.py" in said["files"], said
    assert not canary.has_sung


def _punch_in(server: Served, root: Path) -> str:
    status, said = server.ask("POST", "/api/sessions", {"id": "mine", "name": "mine", "workingDirectory": str(root)})
    assert status == 201, said
    given = {"llm_name": "model", "task_description": "work", "session_id": "mine"}
    status, said = server.ask("POST", "/api/time/tasks", given)
    assert status == 201, said
    return str(said["task_id"])


@pytest.mark.requirement("SEC-23")
@pytest.mark.parametrize(
    "variables",
    [
        {"GIT_EXTERNAL_DIFF": "{program}", "GIT_PAGER": "{program}", "PAGER": "{program}", "GIT_EDITOR": "{program}"},
        {"GIT_SSH_COMMAND": "{program}", "GIT_ASKPASS": "{program}", "SSH_ASKPASS": "{program}"},
        {
            "GIT_CONFIG_COUNT": "2",
            "GIT_CONFIG_KEY_0": "filter.x.clean",
            "GIT_CONFIG_VALUE_0": "{program}",
            "GIT_CONFIG_KEY_1": "diff.x.textconv",
            "GIT_CONFIG_VALUE_1": "{program}",
        },
        {"GIT_CONFIG_PARAMETERS": "'filter.x.clean'='{program}'"},
        {"GIT_CONFIG_GLOBAL": "{program}.config", "GIT_CONFIG_SYSTEM": "{program}.config"},
        {
            "GIT_DIR": "/nowhere",
            "GIT_WORK_TREE": "/nowhere",
            "GIT_INDEX_FILE": "/nowhere",
            "GIT_CEILING_DIRECTORIES": "/",
        },
    ],
    ids=["programs", "remotes", "configuration", "parameters", "configuration files", "places"],
)
def test_variables_of_git_that_we_were_started_with_lead_nowhere(
    cli: CommandLine, canary: Canary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> None:
    root = project(tmp_path / "repository")
    (root / ".gitattributes").write_text("* filter=x diff=x\n")
    Path(f"{canary.program}.config").write_text(f'[filter "x"]\n\tclean = {canary.program}\n')
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(program=canary.program))
    told = work(cli, root)
    assert not canary.has_sung
    assert "shop.py" in told["files"]
    assert told["detected_by"] == "git"


@pytest.mark.requirement("SEC-23")
def test_a_program_named_git_in_the_repository_is_not_taken_for_git(
    cli: CommandLine, canary: Canary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project(tmp_path / "repository")
    shutil.copy(canary.program, root / "git")
    monkeypatch.setenv("PATH", os.pathsep.join([".", "", os.environ["PATH"]]))
    monkeypatch.chdir(root)
    assert work(cli, root)["detected_by"] == "git"
    assert not canary.has_sung


@pytest.mark.requirement("SEC-23")
@pytest.mark.parametrize("name", ["HEAD", "config", "packed-refs", "index", "info/exclude", "commondir"])
def test_a_repository_of_pipes_does_not_hold_anybody_up(cli: CommandLine, tmp_path: Path, name: str) -> None:
    root = project(tmp_path / "repository")
    (root / ".git" / name).unlink(missing_ok=True)
    os.mkfifo(root / ".git" / name)
    began = cli.run("time", "in", "model", "work", "--directory", str(root))
    assert began.code == 0, began.err


@pytest.mark.requirement("SEC-23")
def test_asking_git_leaves_nothing_behind_and_changes_nothing(
    cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project(tmp_path / "repository")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))

    def inside() -> dict[str, tuple[int, int]]:
        found = [path for path in (root / ".git").rglob("*") if path.is_file()]
        return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in found}

    before = inside()
    work(cli, root)
    assert inside() == before
    assert not list(scratch.iterdir())


# --- what git knows is still told


def plain(tmp_path: Path) -> Path:
    return project(tmp_path / "plain")


def packed(tmp_path: Path) -> Path:
    root = project(tmp_path / "packed")
    git(root, "pack-refs", "--all")
    git(root, "gc", "-q")
    return root


def detached(tmp_path: Path) -> Path:
    root = project(tmp_path / "detached")
    git(root, "checkout", "-q", "--detach")
    return root


def worktree(tmp_path: Path) -> Path:
    root = project(tmp_path / "main")
    git(root, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    return (tmp_path / "side").resolve()


def submodule(tmp_path: Path) -> Path:
    origin, outer = project(tmp_path / "origin"), project(tmp_path / "outer")
    git(outer, "submodule", "--quiet", "add", str(origin), "sub")
    git(outer, "commit", "-qm", "with a submodule")
    return outer / "sub"


def shallow(tmp_path: Path) -> Path:
    origin = project(tmp_path / "origin")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{origin}", "shallow")
    return (tmp_path / "shallow").resolve()


def shared(tmp_path: Path) -> Path:
    project(tmp_path / "origin")
    git(tmp_path, "clone", "-q", "--shared", "origin", "shared")
    return (tmp_path / "shared").resolve()


def split_index(tmp_path: Path) -> Path:
    root = project(tmp_path / "split")
    git(root, "update-index", "--split-index")
    return root


def sha256(tmp_path: Path) -> Path:
    return project(tmp_path / "sha256", init=("--object-format=sha256",))


def through_a_link(tmp_path: Path) -> Path:
    project(tmp_path / "real")
    (tmp_path / "link").symlink_to("real")
    return tmp_path / "link"


KINDS: list[Callable[[Path], Path]] = [
    plain,
    packed,
    detached,
    worktree,
    submodule,
    shallow,
    shared,
    split_index,
    sha256,
    through_a_link,
]


@pytest.mark.requirement("SEC-24")
@pytest.mark.parametrize("make", KINDS)
def test_the_last_change_of_a_definition_is_the_one_git_tells(
    cli: CommandLine, tmp_path: Path, make: Callable[[Path], Path]
) -> None:
    root = make(tmp_path)
    assert cli.run("code", "index", str(root)).code == 0
    for name, line in (("price", 1), ("total", 6)):
        shown = cli.run("code", "show", name, "--json").json()["last_change"]
        assert shown["commit"] == git(root, "blame", "-L", f"{line},{line}", "--porcelain", "shop.py").split()[0]
        assert shown["summary"] == git(root, "log", "-1", "--format=%s", shown["commit"])
    rewrite(root / "shop.py")
    assert cli.run("code", "show", "price", "--json").json()["last_change"]["commit"] is None


@pytest.mark.requirement("SEC-24")
@pytest.mark.parametrize("make", KINDS)
def test_a_task_names_the_files_that_were_changed_added_removed_and_committed(
    cli: CommandLine, tmp_path: Path, make: Callable[[Path], Path]
) -> None:
    root = make(tmp_path)
    (root / "before.py").write_text("left alone\n")
    task = cli.run("time", "in", "model", "work", "--directory", str(root)).out.strip()
    rewrite(root / "shop.py")
    (root / "added.py").write_text("new\n")
    (root / "committed.py").write_text("new\n")
    git(root, "add", "committed.py")
    git(root, "commit", "-qm", "third")
    (root / "other.py").unlink()
    told = cli.run("time", "out", task, "done", "--json").json()
    assert told["detected_by"] == "git"
    assert sorted(told["files"]) == ["added.py", "committed.py", "other.py", "shop.py"]


@pytest.mark.requirement("SEC-24")
def test_files_changed_in_a_submodule_are_named_where_they_are(cli: CommandLine, tmp_path: Path) -> None:
    inner = submodule(tmp_path)
    (inner / "other.py").write_text("def other():\n    return 3\n")
    task = cli.run("time", "in", "model", "work", "--directory", str(inner.parent)).out.strip()
    rewrite(inner / "shop.py")
    (inner / "added.py").write_text("new\n")
    told = cli.run("time", "out", task, "done", "--json").json()
    assert told["files"] == ["sub/added.py", "sub/shop.py"]


@pytest.mark.requirement("SEC-24")
def test_a_submodule_that_moved_to_another_commit_is_named(cli: CommandLine, tmp_path: Path) -> None:
    inner = submodule(tmp_path)
    task = cli.run("time", "in", "model", "work", "--directory", str(inner.parent)).out.strip()
    rewrite(inner / "shop.py")
    git(inner, "commit", "-qam", "inside")
    told = cli.run("time", "out", task, "done", "--json").json()
    assert told["files"] == ["sub"]


@pytest.mark.requirement("SEC-24")
def test_what_everybody_and_this_user_ignore_is_not_named(
    cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project(tmp_path / "repository")
    home = tmp_path / "someone"
    (home / ".config" / "git").mkdir(parents=True)
    (home / ".config" / "git" / "ignore").write_text("*.mine\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (root / ".git" / "info" / "exclude").write_text("*.own\n")
    (root / ".gitignore").write_text("*.log\n")
    task = cli.run("time", "in", "model", "work", "--directory", str(root)).out.strip()
    for name in ("a.log", "b.own", "c.mine", "d.py"):
        (root / name).write_text("x\n")
    assert cli.run("time", "out", task, "done", "--json").json()["files"] == ["d.py"]


@pytest.mark.requirement("SEC-24")
def test_line_ends_that_git_converts_are_no_changes(cli: CommandLine, tmp_path: Path) -> None:
    root = project(tmp_path / "repository")
    git(root, "config", "core.autocrlf", "true")
    (root / "shop.py").unlink()
    git(root, "checkout", "shop.py")
    assert b"\r\n" in (root / "shop.py").read_bytes()
    task = cli.run("time", "in", "model", "work", "--directory", str(root)).out.strip()
    (root / "shop.py").touch()
    (root / "other.py").write_text("def other():\n    return 4\n")
    assert cli.run("time", "out", task, "done", "--json").json()["files"] == ["other.py"]
    assert cli.run("code", "index", str(root)).code == 0
    assert cli.run("code", "show", "price", "--json").json()["last_change"]["commit"] is not None


@pytest.mark.requirement("SEC-23")
@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are those of POSIX")
def test_a_file_of_a_repository_that_says_it_is_of_any_size_fills_no_disk(tmp_path: Path) -> None:
    program = """
import resource, subprocess, sys
from pathlib import Path
from ovillo.security.git import git_in
repository = Path(sys.argv[1])
subprocess.run(["git", "init", "-q", str(repository)], check=True)
with (repository / ".git" / "info" / "exclude").open("wb") as file:
    file.truncate(1 << 32)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 26, 1 << 26))
with git_in(repository) as git:
    print(git is not None and git.ask("status", "--porcelain", timeout_s=20))
"""
    command = [sys.executable, "-c", program, str(tmp_path / "repository")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout, done.stderr) == ("\n", "")
