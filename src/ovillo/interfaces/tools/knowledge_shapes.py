"""Knowledge documents, answers and reports as clients see them."""

from __future__ import annotations

import msgspec

from ovillo.memory.knowledge.indexing import AddReport
from ovillo.memory.knowledge.transfer import ExportReport, ImportReport
from ovillo.model.clock import to_iso
from ovillo.model.knowledge import KnowledgeAnswer, KnowledgeDocument, KnowledgeHit


class KnowledgeDocumentInfo(msgspec.Struct, kw_only=True, omit_defaults=True):
    path: str
    name: str
    lines: int
    chunks: int
    size: int
    hash: str
    read_at: str
    problem: str | None = None


class KnowledgeHitInfo(msgspec.Struct, kw_only=True):
    """``lines`` counts from 1, both included; ``score`` goes from 0 to 1."""

    chunk_id: str
    file: str
    lines: str
    score: float
    hash: str
    heading: str
    passage: str
    text: str


class KnowledgeAnswerInfo(msgspec.Struct, kw_only=True):
    query: str
    hits: list[KnowledgeHitInfo]
    results_count: int
    abstained: bool
    why: str | None
    suggestion: str | None
    question_type: str | None
    threshold: float
    top_score: float | None
    scored_by: str
    notes: list[str]
    elapsed_ms: int


class PassedOver(msgspec.Struct, kw_only=True):
    path: str
    reason: str


class KnowledgeAdded(msgspec.Struct, kw_only=True):
    added: list[str]
    updated: list[str]
    unchanged: int
    chunks: int
    passed_over: list[PassedOver]
    waiting_for_vectors: int | None
    notes: list[str]


class KnowledgeImported(msgspec.Struct, kw_only=True):
    version: str
    embedding_model: str
    chunks_listed: int
    hash_valid: bool
    kept: list[str]
    cut_anew: list[str]
    passed_over: list[PassedOver]
    stale: list[str]
    empty: list[str]
    chunks: int
    vectors: int
    notes: list[str]


class KnowledgeExported(msgspec.Struct, kw_only=True):
    path: str
    documents: int
    chunks: int
    size: int
    embedding_model: str
    dimension: int


def document_info(document: KnowledgeDocument) -> KnowledgeDocumentInfo:
    return KnowledgeDocumentInfo(
        path=document.path,
        name=document.name,
        lines=document.lines,
        chunks=document.chunks,
        size=document.stamp.size,
        hash=document.stamp.digest.hex(),
        read_at=to_iso(document.read_at) or "",
        problem=document.problem,
    )


def answer_info(answer: KnowledgeAnswer) -> KnowledgeAnswerInfo:
    return KnowledgeAnswerInfo(
        query=answer.query,
        hits=[_hit_info(hit) for hit in answer.hits],
        results_count=len(answer.hits),
        abstained=answer.abstained,
        why=answer.why,
        suggestion=answer.suggestion,
        question_type=None if answer.question_type is None else answer.question_type.value,
        threshold=answer.threshold,
        top_score=answer.top_score,
        scored_by=answer.scored_by,
        notes=list(answer.notes),
        elapsed_ms=answer.elapsed_ms,
    )


def _hit_info(hit: KnowledgeHit) -> KnowledgeHitInfo:
    return KnowledgeHitInfo(
        chunk_id=hit.chunk_id,
        file=hit.file,
        lines=hit.lines,
        score=hit.score,
        hash=hit.hash,
        heading=hit.heading,
        passage=hit.passage,
        text=hit.text,
    )


def added_info(report: AddReport) -> KnowledgeAdded:
    return KnowledgeAdded(
        added=report.added,
        updated=report.updated,
        unchanged=len(report.unchanged),
        chunks=report.chunks,
        passed_over=_passed(report.passed),
        waiting_for_vectors=report.waiting,
        notes=report.notes,
    )


def imported_info(report: ImportReport) -> KnowledgeImported:
    return KnowledgeImported(
        version=report.container.version,
        embedding_model=report.container.embedding_model,
        chunks_listed=len(report.container.chunks),
        hash_valid=report.container.is_hash_valid,
        kept=report.kept,
        cut_anew=report.recut,
        passed_over=_passed(report.passed),
        stale=report.stale,
        empty=report.empty,
        chunks=report.chunks,
        vectors=report.vectors,
        notes=report.notes,
    )


def exported_info(report: ExportReport) -> KnowledgeExported:
    return KnowledgeExported(
        path=report.path,
        documents=report.documents,
        chunks=report.chunks,
        size=report.size,
        embedding_model=report.embedding_model,
        dimension=report.dimension,
    )


def _passed(passed: list[tuple[str, str]]) -> list[PassedOver]:
    return [PassedOver(path=path, reason=reason) for path, reason in passed]
