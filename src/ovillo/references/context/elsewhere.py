"""What other projects have, where nothing at home answers: named in one line, never answered with.

Owns when it is looked for, and which project each piece of an answer belongs to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from ovillo.memory.knowledge.questions import question_of
from ovillo.model.records import Namespace, SessionId
from ovillo.model.scope import Project, Scope
from ovillo.references.context.answer import ContextAnswer, Provenance
from ovillo.references.context.wording import Wording, elsewhere

if TYPE_CHECKING:
    from ovillo.sessions.projects import Projects

#: Answers a question in another scope.
Ask = Callable[[Scope], ContextAnswer]
_NAMED = 2


class Elsewhere:
    """Thread-safe."""

    def __init__(self, projects: Projects, sessions: Callable[[Namespace, SessionId], Project | None]) -> None:
        self._projects = projects
        self._of_session = sessions

    def labelled(self, namespace: Namespace, answer: ContextAnswer, scope: Scope) -> ContextAnswer:
        """Each piece that is not at home with the project that it belongs to."""
        if scope.home is None:
            return answer
        shown = tuple(self._label(namespace, each, scope.home) for each in answer.provenance)
        return replace(answer, provenance=shown)

    def told(self, namespace: Namespace, answer: ContextAnswer, scope: Scope, language: str, ask: Ask) -> ContextAnswer:
        """The refusal, with a line on what answers in other projects, where somebody asked a question."""
        home = scope.limit
        if home is None or scope.is_named or not answer.abstained or not _is_question(answer.query):
            return answer
        away = Project("", locations=self._projects.known(namespace).elsewhere(home))
        # Named: beyond everywhere there is nothing to look at.
        other = ask(Scope(away, is_named=True, others=frozenset(home.folders)))
        if other.abstained:
            return answer
        places = [self._label(namespace, each, home) for each in other.provenance]
        # A session or file is named once.
        apart = {(each.session_id, each.file): each for each in reversed(places) if each.project is not None}
        places = list(reversed(apart.values()))[:_NAMED]
        if not places:
            return answer
        line = elsewhere(places, home.name, Wording(language))
        content = f"{answer.content}\n{line}"
        return replace(answer, content=content, provenance=(*answer.provenance, *places))

    def _label(self, namespace: Namespace, each: Provenance, home: Project) -> Provenance:
        project = self._project(namespace, each)
        is_home = project is None or bool({*project.folders} & {*home.folders}) or project.name == home.name
        return each if is_home or project is None else replace(each, project=project.name)

    def _project(self, namespace: Namespace, each: Provenance) -> Project | None:
        if each.session_id is not None:
            return self._of_session(namespace, SessionId(each.session_id))
        path = each.root or (each.file if each.file and PurePath(each.file).is_absolute() else None)
        return self._projects.known(namespace).of_path(path) if path else None


def _is_question(query: str) -> bool:
    """The next thing said in a conversation ("it is in the validation") is none: what other projects say is beside it."""
    return question_of(query).type is not None or "?" in query or "¿" in query
