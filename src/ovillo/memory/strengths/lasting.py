"""What people say shall last: from now on, in this project always, remember that; and what they had to say again.

Owns finding those sentences. That something sounds like a rule is not enough; they say that it is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from ovillo.memory.kinds import kind_of
from ovillo.memory.strengths.candidate import Candidate
from ovillo.memory.strengths.people import Said, said_by_people, stands_alone
from ovillo.memory.strengths.words import says
from ovillo.memory.subjects import SAME_SUBJECT, likeness, subject
from ovillo.model.dataclass import dataclass
from ovillo.model.memories import Origin
from ovillo.model.records import Message

#: Telling words of "no, undo that", at most.
_OF_ITS_OWN = 2
#: Prompts beyond so many characters hold more than a demand, and two as alike are one that is tried once more.
_TYPED, _SAME_PROMPT = 800, 0.75
#: Other sessions that begin with the same prompt, at least, where nothing else tells that it stands for more than a retry.
_HABIT = 3
_KEPT = "a person asked to remember it"
_KINDS = ("convention", "preference", "decision", "fact")


@dataclass(frozen=True, slots=True)
class OtherSession:
    """What people said in it."""

    said: Sequence[Said]
    #: It worked in another project.
    is_elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class AskedAgain:
    """In how many other sessions a person asked for the same, and whether one of them was of another project."""

    times: int = 0
    is_of_projects: bool = False


def lasting(messages: Sequence[Message]) -> Iterator[Candidate]:
    said = list(said_by_people(messages))
    for each, following in zip_longest(said, said[1:]):
        # (How long it is comes first: rules look through all of a sentence.)
        if not stands_alone(each.words) or says("vague", each.words) or says("keeps_that", each.words):
            continue
        why = _why(each.words) or (_KEPT if following is not None and _keeps(each, following) else None)
        if why is not None and not is_taken_back(each, said):
            yield candidate_of(each, why)


def _keeps(said: Said, following: Said) -> bool:
    """Whether the next sentence of the prompt asks to remember this one, a demand: "make a note of this"."""
    return (
        following.prompt == said.prompt
        and following.place == said.place
        and says("keeps_that", following.words)
        and (says("demands", said.words) or says("forbids", said.words))
    )


def candidate_of(said: Said, why: str) -> Candidate:
    kind, message = kind_of(said.words).kind, said.message
    if kind not in _KINDS or (kind == "fact" and not says("remember", said.words)):
        kind = "convention"
    return Candidate(kind, said.words, Origin.HUMAN, message.id, message.created_at, True, why)


def is_taken_back(said: Said, all_said: Sequence[Said]) -> bool:
    """Whether the same person said otherwise later: at once, or of the same subject."""
    about = subject(said.words)
    later = [each for each in all_said if each.place > said.place]
    for each in later:
        if not says("taken_back", each.words):
            continue
        if each.place == later[0].place and len(subject(each.words) - about) <= _OF_ITS_OWN:
            return True
        if len(subject(each.words) & about) >= min(2, len(about)):
            return True
    return False


def asked_again(said: Said, elsewhere: Sequence[OtherSession]) -> AskedAgain:
    """Where else a person asked for the same. A whole prompt that is tried once more in the same project is no demand,
    unless it is tried so often that it is how the person works."""
    if not _is_typed(said):
        return AskedAgain()
    about, asked = subject(said.words), subject(said.prompt)
    times = retried = others = 0
    for session in elsewhere:
        alike = [
            each for each in session.said if likeness(about, subject(each.words)) >= SAME_SUBJECT and _is_typed(each)
        ]
        if not alike:
            continue
        others += session.is_elsewhere
        if session.is_elsewhere or any(likeness(asked, subject(each.prompt)) < _SAME_PROMPT for each in alike):
            times += 1
        else:
            retried += 1
    return AskedAgain(times + retried, others > 0) if times or retried >= _HABIT else AskedAgain()


def _is_typed(said: Said) -> bool:
    """Whether a person put it in their own words: what a program printed is pasted into several sessions, too."""
    return len(said.prompt) <= _TYPED and not says("log", said.prompt)


def _why(words: str) -> str | None:
    if says("lasting", words):
        return "a person said that it shall hold from then on"
    if says("remember", words) and not says("at_hand", words):
        return _KEPT
    if says("again", words) and says("forbids", words):
        return "a person had to say it again"
    return None
