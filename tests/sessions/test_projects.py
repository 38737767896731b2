"""What belongs to one project: repositories, their work trees, moved folders, several clients."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from ovillo.interfaces.services import Services
from ovillo.model.records import DEFAULT_NAMESPACE, Namespace
from ovillo.model.scope import Project
from ovillo.sessions.projects import ProjectMap
from tests.builders import delta, message, session
from tests.interfaces.opened import made

__all__ = ["made"]

NS = DEFAULT_NAMESPACE


def git(folder: Path, *arguments: str) -> None:
    name = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *name, *arguments], cwd=folder, check=True, capture_output=True)


def repository(folder: Path, origin: str | None = None) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    (folder / "a.py").write_text("a = 1\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "one")
    if origin:
        git(folder, "remote", "add", "origin", origin)
    return folder


def record(services: Services, session_id: str, directory: Path | str | None, **fields: object) -> None:
    told = None if directory is None else str(directory)
    about = session(session_id, directory=told, **fields)
    services.store.ingest.apply(NS, [delta(message(f"{session_id}-m", 1, "hello", of=session_id), about=about)])  # type: ignore[attr-defined]


def grouped(services: Services) -> dict[str, set[str]]:
    """Names of projects with the directories of their sessions."""
    known = services.projects.known(NS)
    return {
        project.name: {place.directory for place in project.locations}
        for project in known.projects
        if project.locations
    }


def project_at(services: Services, folder: Path | str) -> Project:
    found = services.projects.of_folder(NS, str(folder))
    assert found is not None
    return found


@pytest.mark.requirement("SCOPE-1")
def test_a_repository_is_one_project_with_its_folders_and_work_trees(made: Services, tmp_path: Path) -> None:
    shop = repository(tmp_path / "work" / "shop")
    (shop / "src" / "deep").mkdir(parents=True)
    tree = tmp_path / "elsewhere" / "shop-fix"
    git(shop, "worktree", "add", "-q", str(tree))
    record(made, "ses_root", shop, source="claude_code")
    record(made, "ses_deep", shop / "src" / "deep", source="codex")
    record(made, "ses_tree", tree, source="opencode")
    record(made, "ses_other", repository(tmp_path / "work" / "blog"))
    assert grouped(made) == {
        "shop": {str(shop), str(shop / "src" / "deep"), str(tree)},
        "blog": {str(tmp_path / "work" / "blog")},
    }
    assert project_at(made, shop / "src").locations == project_at(made, tree).locations


@pytest.mark.requirement("SCOPE-1")
def test_two_folders_of_one_name_are_two_projects_with_telling_names(made: Services, tmp_path: Path) -> None:
    one, two = repository(tmp_path / "ana" / "shop"), repository(tmp_path / "eva" / "shop")
    record(made, "ses_one", one)
    record(made, "ses_two", two)
    assert grouped(made) == {"ana/shop": {str(one)}, "eva/shop": {str(two)}}
    known = made.projects.known(NS)
    assert len(known.called("shop")) == 2
    assert [project.name for project in known.called("ana/shop")] == ["ana/shop"]


@pytest.mark.requirement("SCOPE-1")
@pytest.mark.parametrize("way", ["origin", "first commit"])
def test_a_folder_that_was_moved_is_the_project_it_was(made: Services, tmp_path: Path, way: str) -> None:
    old = repository(tmp_path / "old-name", "git@example.org:team/shop.git" if way == "origin" else None)
    first = subprocess.run(
        ["git", "rev-list", "--max-parents=0", "HEAD"], cwd=old, capture_output=True, text=True, check=True
    )
    commit = first.stdout.strip()
    (old / ".git" / "opencode").write_text(commit)
    if way == "origin":
        copy = tmp_path / "copy"
        git(tmp_path, "clone", "-q", str(old), str(copy))
        git(copy, "remote", "set-url", "origin", "https://example.org/team/shop")
        record(made, "ses_old", old)
        record(made, "ses_new", copy)
        assert set(map(frozenset, grouped(made).values())) == {frozenset({str(old), str(copy)})}
    else:
        record(made, "ses_old", old, project_id=commit, worktree=str(old))
        shutil.move(old, tmp_path / "new-name")
        record(made, "ses_new", tmp_path / "new-name")
        assert grouped(made) == {"new-name": {str(old), str(tmp_path / "new-name")}}


@pytest.mark.requirement("SCOPE-1")
def test_folders_that_are_gone_are_grouped_by_what_records_say(made: Services) -> None:
    record(made, "ses_1", "/home/ana/shop", git_branch="main", source="claude_code")
    record(made, "ses_2", "/home/ana/shop/src", git_branch="main", source="claude_code")
    record(made, "ses_3", "/home/ana/shop-fix", project_id="prj_1", worktree="/home/ana/shop")
    record(made, "ses_4", "/home/ana", source="claude_code")
    record(made, "ses_5", "C:\\Users\\ana\\blog", source="claude_code")
    record(made, "ses_6", "/srv/gone/notes", source="codex")
    record(made, "ses_7", "/srv/gone/notes/2026", source="codex")
    assert grouped(made) == {
        "shop": {"/home/ana/shop", "/home/ana/shop/src", "/home/ana/shop-fix"},
        "blog": {"C:\\Users\\ana\\blog"},
        "notes": {"/srv/gone/notes"},
        "2026": {"/srv/gone/notes/2026"},
    }


@pytest.mark.requirement("SCOPE-1")
def test_a_home_folder_is_nobodys_project_even_where_it_is_kept_in_git(made: Services, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "notes").mkdir()
    record(made, "ses_home", tmp_path)
    record(made, "ses_notes", tmp_path / "notes")
    assert grouped(made) == {"notes": {str(tmp_path / "notes")}}
    assert made.projects.of_folder(NS, str(tmp_path)) is None


@pytest.mark.requirement("SCOPE-1")
def test_a_repository_without_sessions_is_a_project_all_the_same(made: Services, tmp_path: Path) -> None:
    fresh = repository(tmp_path / "fresh")
    record(made, "ses_a", repository(tmp_path / "shop"))
    assert project_at(made, fresh) == Project("fresh", (str(fresh),))
    assert made.projects.of_folder(NS, str(tmp_path / "nothing-here")) is None


@pytest.mark.requirement("SCOPE-1")
def test_a_repository_inside_another_is_its_own(made: Services, tmp_path: Path) -> None:
    outer = repository(tmp_path / "outer")
    inner = repository(outer / "vendor" / "inner")
    record(made, "ses_outer", outer)
    record(made, "ses_inner", inner)
    known = made.projects.known(NS)
    scope = known.scope(project_at(made, outer))
    assert scope.is_home(str(outer / "src" / "a.py"))
    assert not scope.is_home(str(inner / "a.py"))
    assert known.scope(project_at(made, inner)).is_home(str(inner / "a.py"))
    assert scope.is_home(str(tmp_path / "nobodys.md"))


@pytest.mark.requirement("SCOPE-1")
def test_folders_of_other_namespaces_are_not_looked_for_on_this_disk(made: Services, tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    (shop / "src").mkdir()
    team = Namespace("team")
    for number, folder in enumerate((shop, shop / "src")):
        about = session(f"ses_{number}", directory=str(folder))
        made.store.ingest.apply(team, [delta(message(f"m{number}", 1, "x", of=about.id), about=about)])  # type: ignore[attr-defined]
    known: ProjectMap = made.projects.known(team)
    assert sorted(project.name for project in known.projects) == ["shop", "src"]
    assert made.projects.of_folder(team, str(tmp_path / "fresh")) is None


def written(services: Services, home: Path, name: str, folder: Path) -> None:
    """A session of Claude Code in a folder, read now."""
    line = {
        "type": "user", "uuid": f"u-{name}", "parentUuid": None, "sessionId": name, "isSidechain": False,
        "cwd": str(folder), "timestamp": "2026-11-21T04:00:00.000Z", "message": {"role": "user", "content": "hello"},
    }  # fmt: skip
    path = home / ".claude" / "projects" / name / f"{name}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(line) + "\n")
    services.ingest.scan()


@pytest.mark.requirement("SCOPE-1")
@pytest.mark.parametrize("origin", ["https://key@example.org/team/shop.git", None])
def test_a_renamed_folder_is_known_again_by_what_was_seen_when_its_sessions_were_read(
    made: Services, tmp_path: Path, origin: str | None
) -> None:
    old, new = tmp_path / "w" / "shop", tmp_path / "w" / "store"
    repository(old, origin)
    written(made, tmp_path, "before", old)
    shutil.move(old, new)
    written(made, tmp_path, "after", new)
    assert grouped(made) == {"store": {str(old), str(new)}}
    assert project_at(made, new / "src").locations == made.projects.known(NS).projects[0].locations
    # The key in the address is not kept.
    assert "key@" not in str(made.catalog.resolve(NS, "before").session.metadata)


@pytest.mark.requirement("SCOPE-1")
def test_a_work_tree_that_was_removed_still_belongs_to_its_repository(made: Services, tmp_path: Path) -> None:
    shop = repository(tmp_path / "w" / "shop")
    tree = tmp_path / "w" / "shop-fix"
    git(shop, "worktree", "add", "-q", str(tree))
    written(made, tmp_path, "in-the-tree", tree)
    git(shop, "worktree", "remove", "--force", str(tree))
    assert not tree.exists()
    assert grouped(made) == {"shop": {str(tree)}}
    assert project_at(made, shop).name == "shop"


@pytest.mark.requirement("SCOPE-1")
def test_the_address_that_a_client_writes_down_joins_folders_of_other_machines(made: Services) -> None:
    for name, folder in (("ses_1", "/srv/one/shop"), ("ses_2", "/srv/two/checkout")):
        record(made, name, folder, metadata={"repository": "git@example.org:team/shop.git"})
    record(made, "ses_3", "/srv/three/shop")
    assert set(map(frozenset, grouped(made).values())) == {
        frozenset({"/srv/one/shop", "/srv/two/checkout"}),
        frozenset({"/srv/three/shop"}),
    }
