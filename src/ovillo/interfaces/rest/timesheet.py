"""``/api/time``: punch in and out, tasks, and the report (Continuity Protocol 2.3).

Owns the requests and answers of the timesheet.
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from ovillo.interfaces.http.endpoints import Endpoint, Exchange, Reply
from ovillo.interfaces.tools.timesheet_shapes import Sheet, TaskInfo, sheet, task_info
from ovillo.interfaces.tools.working_place import is_local_user, place_of_session
from ovillo.model.clock import parse_when, to_iso
from ovillo.model.errors import InvalidInput
from ovillo.security.principals import HISTORY_READ, SESSIONS_WRITE
from ovillo.sessions.timesheet import GROUPS, GroupBy, TaskLocation

_TAG = "Timesheet"


class PunchIn(Struct, kw_only=True, forbid_unknown_fields=True):
    llm_name: str
    task_description: str
    context: str | None = None
    #: The session that works on it; its folder is where changed files are looked for.
    session_id: str | None = None


class PunchOut(Struct, kw_only=True, forbid_unknown_fields=True):
    summary: str
    detect_files: bool = True


class Span(Struct, kw_only=True, forbid_unknown_fields=True):
    """Times as ISO 8601, milliseconds, ``7d``, ``today``."""

    after: str | None = None
    before: str | None = None


class TaskQuery(Span, kw_only=True, forbid_unknown_fields=True):
    open: bool | None = None
    limit: Annotated[int, Meta(ge=1, le=1_000)] = 100


class ReportQuery(Span, kw_only=True, forbid_unknown_fields=True):
    #: What to group by, with commas: ``day``, ``agent``, ``project``; all three when left out.
    by: str | None = None


class Began(Struct, kw_only=True):
    success: bool
    task_id: str
    start_time: str | None


class Ended(Struct, kw_only=True):
    success: bool
    duration_seconds: float
    files_modified: int
    files: list[str]
    detected_by: str | None
    warnings: list[str]


class TaskList(Struct, kw_only=True):
    tasks: list[TaskInfo]


def _in(call: Exchange[Any, PunchIn]) -> Reply:
    given = call.body
    place = TaskLocation()
    if given.session_id is not None:
        session = call.services.catalog.resolve(call.namespace, given.session_id).session
        place = place_of_session(session, local=is_local_user(call.principal.name, call.principal.key_id))
    task = call.services.timesheet.punch_in(
        call.namespace, given.llm_name, given.task_description, given.context, place
    )
    return Reply(Began(success=True, task_id=task.id, start_time=to_iso(task.started_at)), 201)


def _out(call: Exchange[Any, PunchOut]) -> Reply:
    done = call.services.timesheet.punch_out(
        call.namespace, call.path["id"], call.body.summary, detect_files=call.body.detect_files
    )
    ended = Ended(
        success=True,
        duration_seconds=done.duration_s,
        files_modified=len(done.task.files),
        files=list(done.task.files),
        detected_by=done.task.detected_by,
        warnings=list(done.task.warnings),
    )
    return Reply(ended)


def _task(call: Exchange[Any, None]) -> Reply:
    return Reply(task_info(call.services.timesheet.get(call.namespace, call.path["id"])))


def _tasks(call: Exchange[TaskQuery, None]) -> Reply:
    query = call.query
    found = call.services.store.timesheet.tasks(
        call.namespace,
        after=_when(call, "after", query.after),
        before=_when(call, "before", query.before),
        is_open=query.open,
        limit=query.limit,
    )
    return Reply(TaskList(tasks=[task_info(task) for task in found]))


def _report(call: Exchange[ReportQuery, None]) -> Reply:
    query = call.query
    report = call.services.timesheet.report(
        call.namespace,
        after=_when(call, "after", query.after),
        before=_when(call, "before", query.before),
        by=groups(query.by),
    )
    return Reply(sheet(report))


def _when(call: Exchange[Any, Any], name: str, given: str | None) -> int | None:
    if given is None:
        return None
    moment = parse_when(given, call.services.clock())
    if moment is None:
        raise InvalidInput(f"{name} {given[:60]!r} is not a time.", hint="Use 2026-11-21, ISO 8601, 7d, 24h or today.")
    return moment


def groups(given: str | None) -> tuple[GroupBy, ...]:
    """``day,agent`` taken apart; all for ``None``. Raises InvalidInput."""
    if given is None:
        return GROUPS
    names = [name.strip() for name in given.split(",") if name.strip()]
    unknown = [name for name in names if name not in GROUPS]
    if unknown or not names:
        raise InvalidInput(f"A report cannot be grouped by {given[:60]!r}.", hint=f"Known: {', '.join(GROUPS)}.")
    return tuple(name for name in GROUPS if name in names)


_NONE = {404: "No such task."}

ENDPOINTS = (
    Endpoint(
        "POST",
        "/api/time/tasks",
        "punchIn",
        "Begin a task",
        _TAG,
        SESSIONS_WRITE,
        _in,
        body=PunchIn,
        reply=Began,
        status=201,
        also={404: "No such session."},
    ),
    Endpoint(
        "POST",
        "/api/time/tasks/{id}/out",
        "punchOut",
        "End a task",
        _TAG,
        SESSIONS_WRITE,
        _out,
        body=PunchOut,
        reply=Ended,
        also=_NONE | {409: "The task has ended already; the problem says what was recorded."},
    ),
    Endpoint(
        "GET",
        "/api/time/tasks",
        "listTasks",
        "Tasks, newest first",
        _TAG,
        HISTORY_READ,
        _tasks,
        TaskQuery,
        reply=TaskList,
    ),
    Endpoint(
        "GET", "/api/time/tasks/{id}", "getTask", "One task", _TAG, HISTORY_READ, _task, reply=TaskInfo, also=_NONE
    ),
    Endpoint(
        "GET",
        "/api/time/report",
        "timeReport",
        "Time per day, agent and project",
        _TAG,
        HISTORY_READ,
        _report,
        ReportQuery,
        reply=Sheet,
    ),
)
