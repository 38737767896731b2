"""The tool ``recover_context``: a session given back after its context was compacted."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from ovillo.interfaces.tools import shapes
from ovillo.interfaces.tools.answer_budget import AnswerBudget
from ovillo.interfaces.tools.contract import Answer, Call, Tool
from ovillo.interfaces.tools.schema import BRIEF, wire_name
from ovillo.interfaces.tools.session_lookup import CURRENT, LookedUpSession, find_session, with_session
from ovillo.model.clock import to_iso
from ovillo.model.limits import MAX_ANSWER_TOKENS
from ovillo.model.quoting import NOTICE, Line, Quote, named, said, written
from ovillo.model.wording import counted
from ovillo.sessions.results import Freshness, RecoveredContext, RecoveredItem
from ovillo.sessions.tokens import count_tokens

_HEADINGS = {
    "goal": "Goal",
    "summary": "Summary at the last compaction",
    "decision": "Decisions",
    "file": "Files touched",
    "error": "Open errors",
    "todo": "Todos",
    "prompt": "Earlier prompts",
    "turn": "Newest turns",
    "pointer": "More, by id",
}

#: The recovery service takes no smaller budget.
_LEAST = 200
#: What an item costs beside its text, in the cheaper of its two forms.
_ITEM_TOKENS = 30


class Input(Struct, rename=wire_name, kw_only=True):
    session_id: shapes.SessionRef = CURRENT
    max_tokens: Annotated[int, Meta(ge=200, le=MAX_ANSWER_TOKENS, description="Budget of the answer")] = 4_000


class Item(Struct, rename=wire_name, kw_only=True):
    kind: str
    text: str
    ref: str | None
    created: str | None
    role: str | UnsetType = UNSET


class Output(Struct, rename=wire_name, kw_only=True):
    session: Annotated[shapes.SessionInfo, BRIEF]
    items: list[Item]
    tokens: int
    max_tokens: int
    left_out: int
    indexed_through: shapes.IndexedThrough
    calling: shapes.Caller | UnsetType = UNSET
    not_indexed_yet: list[str] | UnsetType = UNSET
    notice: str | UnsetType = UNSET


def handle(call: Call, args: Input) -> Answer:
    found = find_session(call, args.session_id)
    budget = max(round(args.max_tokens * 0.85) - 150, _LEAST)
    recovered = call.services.recovery.recover(call.namespace, found.id, budget)
    while True:
        output, lines = _written(recovered, args, found)
        text = Answer(output, lines).text
        spent = max(count_tokens(text), count_tokens(msgspec.json.encode(output).decode()))
        shorter = _without_oldest_turns(recovered, spent - args.max_tokens)
        if spent <= args.max_tokens or shorter is None:
            break
        recovered = shorter
    output.tokens = count_tokens(text)
    return Answer(output, lines)


def _without_oldest_turns(recovered: RecoveredContext, tokens: int) -> RecoveredContext | None:
    """What is left when the oldest quoted turns make room for what quote marks, ids and JSON cost beyond the plan;
    ``None`` when no turn can go."""
    turns = [item for item in recovered.items if item.kind == "turn"]
    dropped: list[RecoveredItem] = []
    while turns[1:] and tokens > 0:
        dropped.append(turns.pop(0))
        tokens -= count_tokens(dropped[-1].text) + _ITEM_TOKENS
    if not dropped:
        return None
    kept = tuple(item for item in recovered.items if not any(item is gone for gone in dropped))
    return replace(recovered, items=kept, left_out=recovered.left_out + len(dropped))


def _written(recovered: RecoveredContext, args: Input, found: LookedUpSession) -> tuple[Output, list[Line]]:
    fresh = with_session(recovered.freshness, found)
    output = Output(
        session=shapes.session_info(recovered.summary),
        items=[],
        tokens=0,
        max_tokens=args.max_tokens,
        left_out=recovered.left_out,
        indexed_through=to_iso(fresh.indexed_through),
        calling=shapes.calling_info(found.calling),
        not_indexed_yet=shapes.pending_sources(fresh),
        notice=NOTICE,
    )
    return output, _fill(recovered, output, found, fresh)


def _fill(recovered: RecoveredContext, output: Output, found: LookedUpSession, fresh: Freshness) -> list[Line]:
    """Items in the order the service chose, under a heading a kind, while the answer's bytes last."""
    budget = AnswerBudget(MAX_ANSWER_TOKENS)
    blocks: list[Line] = []
    kind = ""
    for item in recovered.items:
        info = _item(item)
        block = _block(info, heading=item.kind != kind)
        if not budget.take(written(block), info):
            break
        kind = item.kind
        output.items.append(info)
        blocks += block
    missing = len(recovered.items) - len(output.items)
    session = output.session
    return [
        f"# {said(session.title)}",
        f"Session {named(found.id)}, {named(str(session.source))}, {shapes.message_count(session)}.",
        shapes.calling_line(found.calling),
        *blocks,
        f"{counted(missing, 'item')} had no room: get_session_history(sessionID={said(found.id)}) has the rest."
        if missing
        else "",
        shapes.freshness_line(fresh),
    ]


def _item(item: RecoveredItem) -> Item:
    return Item(kind=item.kind, text=item.text, ref=item.ref, created=to_iso(item.at), role=item.role or UNSET)


def _block(item: Item, *, heading: bool) -> list[Line]:
    title: list[Line] = [f"## {_HEADINGS.get(item.kind, item.kind.capitalize())}"] if heading else []
    marks = " ".join(
        x
        for x in (
            item.role if isinstance(item.role, str) else "",
            shapes.stamp(item.created) if item.created else "",
            named(item.ref or ""),
        )
        if x
    )
    return [*title, *([f"[{marks}]"] if marks else []), Quote(item.text)]


TOOL = Tool(
    name="recover_context",
    title="Recover lost context",
    description=(
        "Gives a session back within a token budget, best first: goal, decisions, files touched, open errors and todos, then "
        "the newest turns word for word, then ids that fetch everything else with get_session_history. Call it first after a "
        "compaction, or to continue where a session left off. Without sessionID it is the calling session."
    ),
    input=Input,
    output=Output,
    handler=handle,
)
