"""Kinds of questions and how sure an answer has to be (DESIGN section 9, thresholds of MCP-HUB v5).

Owns telling the kind from the question's words, in four languages.
"""

from __future__ import annotations

import re

from ovillo.model.records import Namespace
from ovillo.references.context.service import DocumentsFound

THRESHOLDS = {"factual": 0.78, "procedural": 0.72, "conceptual": 0.65, "temporal": 0.85}

_TEMPORAL = re.compile(
    r"\b(?:when|since when|how long|last (?:time|week|month)|yesterday|cuándo|desde cuándo|ayer|la última vez|semana pasada"
    r"|quand|depuis quand|hier|la dernière fois|semaine dernière|quando|desde quando|ontem|última vez|semana passada)\b",
    re.IGNORECASE,
)
_PROCEDURAL = re.compile(
    r"\b(?:how (?:do|can|to|should)|steps?|cómo (?:se|puedo|hago|hay)|pasos|comment (?:faire|puis|on|je)|étapes"
    r"|como (?:faço|posso|se)|passos)\b",
    re.IGNORECASE,
)
_CONCEPTUAL = re.compile(
    r"\b(?:why|what is|what does|explain|how does|how is|meaning|por qué|qué es|qué hace|explica|cómo (?:funciona|está)"
    r"|pourquoi|qu'est-ce|que fait|explique|comment (?:fonctionne|marche)|por que|o que é|o que faz|explique|como funciona)\b",
    re.IGNORECASE,
)


def question_type(query: str) -> str:
    """``temporal``, ``procedural``, ``conceptual``, or else ``factual``."""
    if _TEMPORAL.search(query):
        return "temporal"
    if _CONCEPTUAL.search(query):
        return "conceptual"
    return "procedural" if _PROCEDURAL.search(query) else "factual"


def documents_about(namespace: Namespace, query: str) -> DocumentsFound:
    """The kind of the question and its threshold; no documents."""
    kind = question_type(query)
    return DocumentsFound((), 0.0, THRESHOLDS[kind], kind)
