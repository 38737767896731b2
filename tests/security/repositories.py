"""Repositories that try to run a program, and ones that do not."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

#: Every name that git looks for among hooks.
HOOKS = (
    *("applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-applypatch", "post-checkout", "post-commit"),
    *("post-index-change", "post-merge", "post-rewrite", "pre-applypatch", "pre-auto-gc", "pre-commit"),
    *("pre-merge-commit", "pre-push", "pre-rebase", "prepare-commit-msg", "reference-transaction"),
    *("push-to-checkout", "sendemail-validate"),
)


def git(folder: Path, *arguments: str, at: str = "2026-01-03T12:00:00Z") -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_COMMITTER_DATE": at}
    identity = ("-c", "user.name=Ana", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always")
    done = subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True, text=True, env=environment
    )
    return done.stdout.strip()


def project(folder: Path, *, init: tuple[str, ...] = ()) -> Path:
    """A repository with two commits; ``shop.py`` is written in the first, ``total`` in it changed in the second."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main", *init)
    (folder / "shop.py").write_text("def price():\n    return 1\n\n\ndef total():\n    return price()\n")
    (folder / "other.py").write_text("def other():\n    return 2\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "SHOP-1 first", at="2026-01-01T12:00:00Z")
    (folder / "shop.py").write_text("def price():\n    return 1\n\n\ndef total():\n    return price() * 2\n")
    git(folder, "commit", "-qam", "SHOP-2 second", at="2026-01-02T12:00:00Z")
    return folder.resolve()


@dataclass(frozen=True)
class Canary:
    """A program that leaves a file when it is run, and then does as a filter should."""

    folder: Path

    @classmethod
    def made(cls, folder: Path) -> Canary:
        folder.mkdir()
        (folder / "fired").mkdir()
        program = folder / "canary"
        program.write_text(f"#!/bin/sh\n: > '{folder}/fired/'$$\ntest -t 0 || cat\nexit 0\n")
        program.chmod(0o755)
        return cls(folder)

    @property
    def program(self) -> str:
        return str(self.folder / "canary")

    @property
    def has_sung(self) -> bool:
        return bool(list((self.folder / "fired").iterdir()))


Plant = Callable[[Path, Canary], None]


def _configure(root: Path, text: str, name: str = "config") -> None:
    with (root / ".git" / name).open("a") as file:
        file.write(text)


def _attributes(root: Path, line: str) -> None:
    (root / ".gitattributes").write_text(line + "\n")


def _filters(root: Path, canary: Canary) -> None:
    _configure(root, f'[filter "x"]\n\tclean = {canary.program}\n\tsmudge = {canary.program}\n\trequired = true\n')
    _attributes(root, "* filter=x")


def _process_filter(root: Path, canary: Canary) -> None:
    _configure(root, f'[filter "x"]\n\tprocess = {canary.program}\n')
    _attributes(root, "* filter=x")


def _textconv(root: Path, canary: Canary) -> None:
    _configure(root, f'[diff "x"]\n\ttextconv = {canary.program}\n\tcachetextconv = true\n')
    _attributes(root, "* diff=x")


def _diff_command(root: Path, canary: Canary) -> None:
    _configure(root, f'[diff "x"]\n\tcommand = {canary.program}\n')
    _attributes(root, "* diff=x")


def _external_diff(root: Path, canary: Canary) -> None:
    _configure(root, f"[diff]\n\texternal = {canary.program}\n")


def _fsmonitor(root: Path, canary: Canary) -> None:
    _configure(root, f"[core]\n\tfsmonitor = {canary.program}\n\tfsmonitorHookVersion = 2\n\tuntrackedCache = true\n")


def _hooks(root: Path, canary: Canary) -> None:
    (root / ".git" / "hooks").mkdir(exist_ok=True)
    for name in HOOKS:
        (root / ".git" / "hooks" / name).unlink(missing_ok=True)
        (root / ".git" / "hooks" / name).symlink_to(canary.program)


def _hooks_elsewhere(root: Path, canary: Canary) -> None:
    (root / "elsewhere").mkdir()
    for name in HOOKS:
        (root / "elsewhere" / name).symlink_to(canary.program)
    _configure(root, f"[core]\n\thooksPath = {root / 'elsewhere'}\n")


def _pagers(root: Path, canary: Canary) -> None:
    program = canary.program
    _configure(
        root,
        f"[core]\n\tpager = {program}\n[pager]\n\tblame = {program}\n\tstatus = {program}\n\tdiff = {program}\n"
        f"\tlog = {program}\n\tconfig = {program}\n[interactive]\n\tdiffFilter = {program}\n",
    )


def _editors(root: Path, canary: Canary) -> None:
    program = canary.program
    _configure(root, f"[core]\n\teditor = {program}\n\taskPass = {program}\n[sequence]\n\teditor = {program}\n")


def _aliases(root: Path, canary: Canary) -> None:
    names = [
        "status",
        "diff",
        "log",
        "blame",
        "rev-parse",
        "merge-base",
        "ls-files",
        "config",
        "diff-index",
        "diff-files",
        "cat-file",
    ]
    _configure(root, "[alias]\n" + "".join(f"\t{name} = !{canary.program}\n" for name in names))


def _attributes_file(root: Path, canary: Canary) -> None:
    (root / "more").write_text("* filter=x diff=x\n")
    _configure(
        root,
        f'[core]\n\tattributesFile = {root / "more"}\n[filter "x"]\n\tclean = {canary.program}\n'
        f'[diff "x"]\n\ttextconv = {canary.program}\n',
    )


def _own_attributes(root: Path, canary: Canary) -> None:
    (root / ".git" / "info").mkdir(exist_ok=True)
    (root / ".git" / "info" / "attributes").write_text("* filter=x diff=x\n")
    _configure(root, f'[filter "x"]\n\tclean = {canary.program}\n[diff "x"]\n\ttextconv = {canary.program}\n')


def _included(root: Path, canary: Canary) -> None:
    (root / ".git" / "more").write_text(f'[filter "x"]\n\tclean = {canary.program}\n')
    _configure(root, "[include]\n\tpath = more\n")
    _attributes(root, "* filter=x")


def _included_on_condition(root: Path, canary: Canary) -> None:
    (root / ".git" / "more").write_text(f'[diff "x"]\n\ttextconv = {canary.program}\n')
    _configure(root, '[includeIf "gitdir:**"]\n\tpath = more\n')
    _attributes(root, "* diff=x")


def _of_the_worktree(root: Path, canary: Canary) -> None:
    git(root, "config", "core.repositoryformatversion", "1")
    _configure(root, "[extensions]\n\tworktreeConfig = true\n")
    _configure(root, f'[filter "x"]\n\tclean = {canary.program}\n', "config.worktree")
    _attributes(root, "* filter=x")


def _signatures(root: Path, canary: Canary) -> None:
    said = git(root, "cat-file", "commit", "HEAD")
    head, _, message = said.partition("\n\n")
    signed = f"{head}\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ\n -----END PGP SIGNATURE-----\n\n{message}\n"
    (root / ".git" / "signed").write_text(signed)
    git(root, "update-ref", "HEAD", git(root, "hash-object", "-t", "commit", "-w", ".git/signed"))
    _configure(root, f"[log]\n\tshowSignature = true\n[gpg]\n\tprogram = {canary.program}\n")


def _promised(root: Path, remote: str) -> None:
    """Objects of the last commit are missing and promised by a remote: git fetches them when it needs them."""
    git(root, "config", "core.repositoryformatversion", "1")
    _configure(
        root,
        f'[extensions]\n\tpartialClone = origin\n[protocol]\n\tallow = always\n[remote "origin"]\n\tpromisor = true\n'
        f"\tpartialclonefilter = blob:none\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n{remote}",
    )
    for name in ("HEAD:shop.py", "HEAD~1:shop.py"):
        blob = git(root, "rev-parse", name)
        (root / ".git" / "objects" / blob[:2] / blob[2:]).unlink(missing_ok=True)


def _ext_remote(root: Path, canary: Canary) -> None:
    _promised(root, f"\turl = ext::{canary.program}\n")


def _ssh_remote(root: Path, canary: Canary) -> None:
    _promised(root, f"\turl = ssh://nobody@127.0.0.1/x\n[core]\n\tsshCommand = {canary.program}\n")


def _upload_pack(root: Path, canary: Canary) -> None:
    _promised(root, f"\turl = {root}\n\tuploadpack = {canary.program}\n")


def _credentials(root: Path, canary: Canary) -> None:
    helper = f"[credential]\n\thelper = !{canary.program}\n[core]\n\tgitProxy = {canary.program}\n"
    _promised(root, f"\turl = git://127.0.0.1:9/x\n{helper}")


def _submodule(root: Path, canary: Canary) -> None:
    origin = project(canary.folder / "origin")
    git(root, "submodule", "--quiet", "add", str(origin), "sub")
    git(root, "commit", "-qm", "with a submodule")
    inner = root / ".git" / "modules" / "sub"
    with (inner / "config").open("a") as file:
        file.write(f'[filter "x"]\n\tclean = {canary.program}\n[core]\n\tfsmonitor = {canary.program}\n')
    _attributes(root / "sub", "* filter=x")
    (root / "sub" / "shop.py").write_text("def price():\n    return 3\n\n\ndef total():\n    return price() * 3\n")


def _elsewhere(root: Path, canary: Canary) -> None:
    """``.git`` is a file that leads to a repository kept among the project's own files."""
    _filters(root, canary)
    (root / ".git").rename(root / "kept")
    (root / ".git").write_text("gitdir: kept\n")


def _by_another_user(root: Path, canary: Canary) -> None:
    _filters(root, canary)
    _textconv(root, canary)
    _attributes(root, "* filter=x diff=x")
    for path in (root, *root.rglob("*")):
        os.chown(path, 65534, 65534, follow_symlinks=False)


VECTORS: dict[str, Plant] = {
    "filters": _filters,
    "process filter": _process_filter,
    "text conversion": _textconv,
    "diff driver": _diff_command,
    "external diff": _external_diff,
    "fsmonitor": _fsmonitor,
    "hooks": _hooks,
    "hooks elsewhere": _hooks_elsewhere,
    "pagers": _pagers,
    "editors": _editors,
    "aliases": _aliases,
    "attributes file": _attributes_file,
    "attributes of the repository": _own_attributes,
    "included file": _included,
    "file included on a condition": _included_on_condition,
    "configuration of a work tree": _of_the_worktree,
    "signatures": _signatures,
    "ext remote": _ext_remote,
    "ssh remote": _ssh_remote,
    "upload pack of a remote": _upload_pack,
    "credential helper and proxy": _credentials,
    "submodule": _submodule,
    "repository kept elsewhere": _elsewhere,
    "repository of another user": _by_another_user,
}
