"""What every store must do when what is stored is masked again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ovillo.model.audit import AuditEntry
from ovillo.model.coordination import ContextEntry, Link, Task
from ovillo.model.masking import MaskingState, Rules
from ovillo.model.memories import Layer, Memory, MemoryId
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import Message, Session, SessionId
from ovillo.store.protocol import MaskingStore, Store
from tests.builders import NOON, delta, message, session

SECRET, MASK = "hunter-two", "masked"


class Taking:
    """Puts one word in the place of another."""

    def redact_text(self, text: str) -> str:
        return text.replace(SECRET, MASK) if SECRET in text else text

    identifier = redact_text

    def redact_value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.redact_text(value)
        if isinstance(value, dict):
            made: Any = {self.redact_text(key): self.redact_value(each) for key, each in value.items()}
        elif isinstance(value, list | tuple):
            made = type(value)(self.redact_value(each) for each in value)
        else:
            return value
        return made if made != value else value

    def redact_session(self, one: Session) -> Session:
        return self._same(
            one, replace(one, id=SessionId(self.redact_text(one.id)), title=self.redact_text(one.title or ""))
        )

    def redact_message(self, one: Message) -> Message:
        parts = tuple(replace(part, text=self.redact_text(part.text)) for part in one.parts)
        return self._same(one, replace(one, parts=parts))

    def _same(self, one: Any, other: Any) -> Any:
        return one if one == other else other


@pytest.fixture
def masking(store: Store) -> MaskingStore:
    return store.masking


def mask_all(masking: MaskingStore) -> int:
    changed = 0
    for subject in masking.subjects():
        after = None
        while True:
            step = masking.step(subject, Taking(), after)
            changed, after = changed + step.changed, step.after
            if after is None:
                break
            assert masking.left(subject, after) <= masking.left(subject, None)
    return changed


@pytest.mark.requirement("SEC-46")
def test_what_is_stored_is_masked_wherever_it_is_and_found_by_what_is_left(store: Store, masking: MaskingStore) -> None:
    told = f"the word is {SECRET}"
    of_a = session("ses_a", title=told)
    store.ingest.apply(NS, [replace(delta(message("m1", 1, told)), session=of_a), delta(message("m2", 1, "plain"))])
    store.contexts.put(NS, ContextEntry(f"c {SECRET}", f"k {SECRET}", {"v": [told]}, NOON))
    store.timesheet.open_task(NS, Task("task_1", told, told, NOON, summary=told, files=(told,)))
    store.memories.put(NS, [Memory(MemoryId("mem_1"), Layer.SEMANTIC, told, told, NOON, NOON, value={SECRET: told})])
    store.recording.create(NS, session("ses_b", source="ovillo"))
    store.program_state.put(NS, SessionId("ses_b"), f"p {SECRET}", {f"n {SECRET}": [told * 99]}, at=NOON)
    store.links.put(NS, Link(SessionId("ses_a"), SessionId("ses_b"), "relates_to", (told,), told))
    store.audit.add(NS, [AuditEntry(NOON, "me", None, "rest", "read", name) for name in ("one", SECRET, "two")])
    assert mask_all(masking) > 0
    everything = (
        [store.sessions.get(NS, SessionId("ses_a")), store.sessions.messages(NS, SessionId("ses_a"))],
        store.contexts.get(NS, f"c {MASK}", f"k {MASK}"),
        store.program_state.get(NS, SessionId("ses_b"), f"p {MASK}"),
        store.timesheet.get_task(NS, "task_1"),
        store.memories.get(NS, MemoryId("mem_1")),
        store.links.of(NS, [SessionId("ses_a")]),
        [record.entry for record in store.audit.entries(NS)],
    )
    assert SECRET not in repr(everything)
    assert repr(everything).count(MASK) >= 12
    assert all(everything)
    assert store.audit.check().broken_at is None
    assert store.forgetting.wipe_is_due()
    assert mask_all(masking) == 0


@pytest.mark.requirement("SEC-47")
def test_by_which_rules_is_noted_and_fewer_ones_take_it_back(masking: MaskingStore) -> None:
    masking.begin(Rules(2, ("house",)))
    assert masking.state() == MaskingState(Rules(2, ("house",)))
    masking.begin(Rules(3, ("house",)))
    assert masking.state().done == Rules(2, ("house",)), "what is there is masked by the older ones"
    masking.note(MaskingState(Rules(2, ("house",)), Rules(3, ("house",)), masking.subjects()[0], (7, "x")))
    assert masking.state().after == (7, "x")
    masking.begin(Rules(3))
    assert masking.state() == MaskingState(Rules(2))
