"""One text in several sessions, counted once: forks, sub-agents' answers in their parents' calls, sessions imported
twice.

Owns distinguishing copies from repetitions: the same error in two sessions is two results.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ovillo.model.records import Namespace, Session, SessionId
from ovillo.search.ranked import Ranked
from ovillo.store.protocol import Doc, DocId

if TYPE_CHECKING:
    from ovillo.store.protocol import SessionStore, TextStore

#: Only the best places are compared: copies rank next to each other.
_LOOKED_AT = 60
#: Shorter texts are repeated without being copied (characters), and shorter pieces are parts of others by chance.
_MIN_CHARS, _MIN_PIECE_CHARS = 24, 60


def without_copies(
    texts: TextStore, sessions: SessionStore, namespace: Namespace, ranked: Sequence[Ranked], docs: dict[DocId, Doc]
) -> list[Ranked]:
    """The same places, but only the best one of each text. Adds what it reads to ``docs``."""
    unknown = [item.doc for item in ranked[:_LOOKED_AT] if item.doc not in docs]
    docs.update((doc.id, doc) for doc in texts.docs(namespace, unknown))
    head = [item for item in ranked[:_LOOKED_AT] if item.doc in docs]
    if len({docs[item.doc].session_id for item in head}) < 2:
        return list(ranked)
    rows = sessions.get_many(namespace, list({docs[item.doc].session_id for item in head}))
    families = _families({key: row.session for key, row in rows.items()})
    suspects = _suspects([docs[item.doc] for item in head], families)
    if not suspects:
        return list(ranked)
    plain = {key: " ".join(text.split()) for key, text in texts.doc_texts(namespace, sorted(suspects)).items()}
    kept: list[Doc] = []
    dropped: set[DocId] = set()
    for item in head:
        doc = docs[item.doc]
        if doc.id not in plain:
            continue
        if any(_is_copy(doc, other, plain, families) for other in kept):
            dropped.add(doc.id)
        else:
            kept.append(doc)
    return [item for item in ranked if item.doc not in dropped]


def _families(sessions: Mapping[SessionId, Session]) -> dict[SessionId, SessionId]:
    """The session that each one derives from, if it is among them or named by them."""
    return {key: session.parent_id or session.forked_from or key for key, session in sessions.items()}


def _suspects(docs: Sequence[Doc], families: Mapping[SessionId, SessionId]) -> set[DocId]:
    """Documents that may be copies of each other: of the same length, time or family."""
    twins: dict[tuple[int, int | None], list[Doc]] = defaultdict(list)
    family: dict[SessionId | None, list[Doc]] = defaultdict(list)
    for doc in docs:
        twins[doc.length, doc.created_at].append(doc)
        family[families.get(doc.session_id)].append(doc)
    groups = [*twins.values(), *family.values()]
    return {doc.id for group in groups if len({doc.session_id for doc in group}) > 1 for doc in group}


def _is_copy(doc: Doc, other: Doc, plain: Mapping[DocId, str], families: Mapping[SessionId, SessionId]) -> bool:
    if doc.session_id == other.session_id:
        return False
    one, two = plain[doc.id], plain[other.id]
    is_same_time = doc.created_at is not None and doc.created_at == other.created_at
    is_family = families.get(doc.session_id) == families.get(other.session_id)
    if one == two:
        return len(one) >= _MIN_CHARS and (is_same_time or is_family)
    shorter, longer = sorted((one, two), key=len)
    return is_family and len(shorter) >= _MIN_PIECE_CHARS and shorter in longer
