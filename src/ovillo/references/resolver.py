"""What the references of a query mean.

Owns the rules and their order (code-and-references.md section 4): explicit names, what only looks like a reference, times,
plurals, ordinals, typed nouns with what describes them, pronouns; and abstaining where two fit about as well. Pure: a
conversation in, a resolution out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ovillo.references.describing import Describing, Translate, content
from ovillo.references.detection import detect
from ovillo.references.expansion import expand
from ovillo.references.groups import latest_group, latest_list, order_of
from ovillo.references.lexicons import CONVENTIONS, VAGUE, grammar
from ovillo.references.mentions import PHRASES, Conversation
from ovillo.references.model import Candidate, Entity, Kind, Mention, Reference, Resolution, Resolved, Status, Window
from ovillo.references.salience import Salience
from ovillo.references.words import alike, name_words

#: Two candidates this near are a tie: ask rather than guess.
_TIE = 0.82
#: What stands this far behind the first is not worth mentioning.
_SHOWN = 5
_MOST = 400
#: Of what was never named in the session but is described by its name.
_UNNAMED = 0.02
_DESCRIBED, _UNDESCRIBED = 1.0, 0.08
#: Where no name is described: of what the words were said, and of what they were not.
_TOLD, _UNSAID = 2.0, 0.08
_NO_MATTER = 0.5
_PREFERRED = 1.6
#: Things a pronoun stands for, the likelier first.
_PRONOUN_TYPES: Mapping[str, float] = {
    **dict.fromkeys(("function", "method", "class", "bug", "error", "test", "commit", "ticket", "branch"), 1.0),
    **dict.fromkeys(("file", "feature", "decision"), 0.9),
    "module": 0.7,
    "identifier": 0.5,
}
#: What "option", "alternative" and the like stand for.
_OPTION = "decision"
_PLACES: Mapping[str, Mapping[str, float]] = {
    "place": {"file": 1.0, "module": 0.8, "class": 0.5},
    "spot": {"file": 1.0, "module": 0.7},
}
_CONFIDENCE = {
    Kind.EXPLICIT: 0.98,
    Kind.DEMONSTRATIVE: 0.93,
    Kind.DEFINITE: 0.88,
    Kind.POSSESSIVE: 0.75,
    Kind.ORDINAL: 0.88,
    Kind.PLURAL: 0.88,
    Kind.OTHER: 0.8,
    Kind.HEADLESS: 0.8,
    Kind.PRONOUN: 0.75,
    Kind.PLACE: 0.65,
    Kind.NAMED: 0.7,
}


@dataclass(frozen=True, slots=True)
class _Scored:
    candidates: tuple[Candidate, ...]
    #: How many words of the description the best one's name has, and whether anything else was said of it.
    named: float = 0.0
    said: float = 0.0


def no_translation(word: str) -> Sequence[str]:
    """For a resolver that knows one language's names only."""
    return ()


def resolve(
    query: str,
    conversation: Conversation,
    now: int,
    *,
    leaning: str | None = None,
    translate: Translate = no_translation,
) -> Resolution:
    """All references of the query. ``now`` in milliseconds; ``leaning`` is the conversation's language."""
    return _Resolver(conversation, now, translate).resolve(query, leaning)


class _Resolver:
    def __init__(self, conversation: Conversation, now: int, translate: Translate) -> None:
        self._talk = conversation
        self._now = now
        self._describing = Describing(conversation, translate)
        self._query = ""

    def resolve(self, query: str, leaning: str | None) -> Resolution:
        self._query = query
        detected = detect(query, self._now, leaning or self._talk.language)
        explicit = self._explicit(query, detected.languages[0])
        done: list[Resolved] = list(explicit)
        for reference in detected.references:
            if self._is_said(reference, explicit):
                continue
            found = self._one(reference, done)
            if found is not None:
                done.append(found)
        done.sort(key=lambda x: x.reference.span)
        done = _without_contrasted(self._with_owners(done))
        return Resolution(query, detected.languages, tuple(done), expand(query, done))

    def _with_owners(self, done: Sequence[Resolved]) -> list[Resolved]:
        """Phrases that name an owner ("the file of that class") decided by what belongs to it."""
        found = list(done)
        for number, each in enumerate(done):
            span = each.reference.owner_span
            if span is None or each.status is Status.NONE:
                continue
            inner = [
                at
                for at, x in enumerate(found)
                if at != number and span[0] <= x.reference.span[0] and x.reference.span[1] <= span[1] and x.entities
            ]
            if not inner:
                continue
            owner = found[inner[0]].entities[0]
            found[number] = self._of_owner(each, owner)
            for at in inner:
                found[at] = replace(found[at], serves=True)
        return found

    def _of_owner(self, each: Resolved, owner: Entity) -> Resolved:
        """What belongs to the owner, else what was said nearest to it."""
        rivals = [x for x in self._score(replace(each.reference, words=())).candidates if x.entity is not owner]
        if not rivals:
            return each
        related = [x for x in rivals if _belongs(x.entity, owner)]
        nearest = related or sorted(rivals, key=lambda x: self._distance(x.entity, owner))
        best = nearest[0]
        if each.entities == (best.entity,):
            return each
        rule = f"belongs to {owner.name}" if related else f"said beside {owner.name}"
        shown = (best, *(x for x in rivals if x is not best))[:_SHOWN]
        return replace(
            each, status=Status.RESOLVED, entities=(best.entity,), candidates=shown, rule=rule, confidence=0.75
        )

    def _distance(self, one: Entity, other: Entity) -> int:
        """Turns between the nearest mentions."""
        mine, theirs = (self._talk.by_entity.get(x.id, ()) for x in (one, other))
        return min((abs(a.turn - b.turn) for a in mine for b in theirs), default=1_000)

    # --- names said in full

    def _explicit(self, query: str, language: str) -> list[Resolved]:
        by_span: dict[tuple[int, int], list[Mention]] = {}
        end = -1
        for mention in self._talk.names_in(query, sure=True):
            if mention.start < end and (mention.start, mention.end) not in by_span:
                continue
            end = max(end, mention.end)
            by_span.setdefault((mention.start, mention.end), []).append(mention)
        return [self._said_so(query, span, mentions, language) for span, mentions in by_span.items()]

    def _said_so(self, query: str, span: tuple[int, int], mentions: Sequence[Mention], language: str) -> Resolved:
        reference = Reference(query[slice(*span)], span, Kind.EXPLICIT, language)
        salience = self._salience(None)
        ranked = sorted(
            (Candidate(x.entity, max(salience.weight(x.entity).total, _UNNAMED), {"name": 1.0}) for x in mentions),
            key=lambda x: -x.score,
        )
        if len(ranked) > 1 and ranked[1].score >= _TIE * ranked[0].score:
            return Resolved(reference, Status.AMBIGUOUS, (), tuple(ranked[:_SHOWN]), "explicit name", 0.5)
        return Resolved(reference, Status.RESOLVED, (ranked[0].entity,), tuple(ranked[:_SHOWN]), "explicit name", 0.98)

    def _is_said(self, reference: Reference, explicit: Sequence[Resolved]) -> bool:
        """Whether the phrase only introduces a name: "the function parse_line", "the login loop bug"."""
        start, end = reference.span
        for each in explicit:
            begins, ends = each.reference.span
            if begins < end and start < ends:
                return True
            between = self._query[end:begins] if begins >= end else None
            fits = reference.heads is None or any(
                x.type in reference.heads for x in (*each.entities, *(c.entity for c in each.candidates))
            )
            if (
                between is not None
                and fits
                and len(between) <= 24
                and (between.strip() == "," or ("," not in between and not content(between.split())))
            ):
                return True
            if reference.kind is Kind.PRONOUN and begins < start and not reference.is_plural:
                return True
        return False

    # --- one reference

    def _one(self, reference: Reference, done: Sequence[Resolved]) -> Resolved | None:
        """``None`` where it turns out to be no reference at all."""
        if reference.kind is Kind.PRONOUN and self._is_bound(reference, done):
            return None
        reference = self._fitting_window(reference)
        match reference.kind:
            case Kind.PLURAL:
                return self._plural(reference)
            case Kind.ORDINAL:
                return self._ordinal(reference)
            case Kind.OTHER:
                return self._other(reference, done)
            case Kind.PRONOUN:
                return self._plural(reference) if reference.is_plural else self._pronoun(reference)
            case Kind.PLACE:
                return self._typed(replace(reference, heads=_PLACES[reference.head or "place"]), "place")
            case Kind.HEADLESS:
                return self._plural(reference) if reference.is_plural else self._headless(reference)
            case Kind.NAMED:
                return self._named(reference)
            case Kind.POSSESSIVE:
                return self._possessed(reference, done)
            case _:
                return self._typed(reference, "typed noun")

    @staticmethod
    def _is_bound(reference: Reference, done: Sequence[Resolved]) -> bool:
        """Whether an expression before it in the query is what the pronoun stands for."""
        before = [x for x in done if x.reference.span < reference.span]
        return any(x.reference.is_plural == reference.is_plural for x in before)

    def _fitting_window(self, reference: Reference) -> Reference:
        """The time asked for, stretched when nothing was said in it; pronouns stand for what is said now."""
        window = reference.window
        if window is None or reference.kind in (Kind.PRONOUN, Kind.PLACE, Kind.NAMED):
            return replace(reference, window=None)
        if window.session_before or window.earlier or self._score(reference).candidates:
            return reference
        return replace(reference, window=replace(window, since=window.wide_since, until=window.wide_until))

    def _typed(self, reference: Reference, rule: str) -> Resolved:
        scored = self._score(reference)
        if (
            not scored.candidates
            and reference.window is not None
            and reference.points
            and reference.window.rule == "today"
        ):
            reference = replace(reference, window=None)
            scored = self._score(reference)
        if reference.window is not None:
            rule = f"{rule} in {reference.window.rule}"
        if scored.named or scored.said:
            rule += " with description"
        elif self._describes_else(reference):
            return Resolved(
                reference, Status.NONE, (), scored.candidates[:_SHOWN], "nothing named is described so", 0.0
            )
        return self._decided(reference, scored.candidates, rule)

    def _describes_else(self, reference: Reference) -> bool:
        """Whether the phrase tells by two words or more which matter it means, and none of them fits."""
        if reference.head not in PHRASES or reference.window is not None:
            return False
        return len(content(reference.words)) >= 2

    def _pronoun(self, reference: Reference) -> Resolved:
        fitting = self._agreeing(reference, _PRONOUN_TYPES)
        candidates = self._score(replace(reference, heads=fitting)).candidates
        start, end = reference.span
        words = content(f"{self._query[:start]} {self._query[end:]}".split())
        if words:
            # What is said of it now was likely said of it before.
            told = [replace(x, score=x.score * (1 + sum(self._describing.match(words, x.entity)))) for x in candidates]
            candidates = tuple(sorted(told, key=lambda x: -x.score))
        return self._decided(reference, candidates, "pronoun by salience")

    def _headless(self, reference: Reference) -> Resolved | None:
        heads = self._agreeing(reference, _PRONOUN_TYPES)
        words = content(reference.words)
        scored = self._score(replace(reference, heads=heads))
        if words and not scored.named and not scored.said and not reference.window:
            return None
        if not reference.points and not words and not reference.window:
            return None
        if reference.window and not words:
            # "and yesterday's": of the kind that is spoken of now.
            now = self._score(replace(reference, heads=heads, window=None)).candidates
            alike_ = [x for x in scored.candidates if now and x.entity.type == now[0].entity.type]
            scored = replace(scored, candidates=tuple(alike_) or scored.candidates)
        return self._decided(reference, scored.candidates, "phrase without noun")

    def _possessed(self, reference: Reference, done: Sequence[Resolved]) -> Resolved | None:
        if any(x.reference.span < reference.span and x.status is Status.RESOLVED for x in done):
            # The owner was named already: nothing new is referred to.
            return None
        owner = self._owner(reference)
        if owner is not None:
            related = [x for x in self._talk.entities if _belongs(x, owner) and x.type in (reference.heads or ())]
            if len(related) == 1:
                candidate = Candidate(related[0], 1.0, {"belongs": 1.0})
                return Resolved(
                    reference, Status.RESOLVED, (related[0],), (candidate,), f"belongs to {owner.name}", 0.75
                )
        return self._typed(reference, "typed noun")

    def _owner(self, reference: Reference) -> Entity | None:
        types = {kind: worth for kind, worth in _PRONOUN_TYPES.items() if kind not in (reference.heads or ())}
        found = self._score(Reference("", (0, 0), Kind.PRONOUN, reference.language, heads=types)).candidates
        return found[0].entity if found else None

    def _named(self, reference: Reference) -> Resolved | None:
        """A noun that is part of a name: bugs, features, decisions by any, the rest after a demonstrative."""
        every = content(reference.words)
        found: list[Candidate] = []
        # In the Romance languages the noun comes first, and what follows may be the verb.
        least = len(every) if reference.language == "en" else 1
        for length in range(len(every), least - 1, -1):
            found = self._part_of_name(reference, every[:length]) if length else []
            if found:
                break
        return self._unrivalled(reference, found)

    def _unrivalled(self, reference: Reference, found: Sequence[Candidate]) -> Resolved | None:
        if not found or (len(found) > 1 and found[1].score >= _TIE * found[0].score):
            return None
        return self._decided(reference, tuple(found), "part of a name")

    def _part_of_name(self, reference: Reference, words: Sequence[str]) -> list[Candidate]:
        found: list[Candidate] = []
        for entity in self._talk.entities:
            if entity.type not in PHRASES and not (
                reference.points or entity.type == "class" or _is_ending(words, entity)
            ):
                continue
            share = 1.0 if _is_ending(words, entity) else _share(words, entity)
            weight = self._salience(None).weight(entity).total
            if share >= 0.5 and weight:
                found.append(Candidate(entity, share * weight, {"name": share, "salience": weight}))
        return sorted(found, key=lambda x: -x.score)

    # --- lists

    def _ordinal(self, reference: Reference) -> Resolved | None:
        heads = reference.heads or self._agreeing(reference, _PRONOUN_TYPES)
        if reference.head == _OPTION and not self._names(_OPTION):
            # Whatever was listed may be an option.
            reference, heads = replace(reference, head=None), _PRONOUN_TYPES
        reference = replace(reference, heads=heads)
        if reference.is_previous and reference.ordinal is None:
            return self._previous(reference)
        index = reference.ordinal or 1
        listed = latest_list(
            self._talk, self._salience(reference.window), heads, abs(index), is_typed=reference.head is not None
        )
        if listed:
            return self._picked(reference, listed, index, "ordinal in the latest list")
        ordered = order_of(self._talk, self._salience(reference.window), heads, is_typed=reference.head is not None)
        if index == -1 and reference.head is not None:
            return self._newest(reference, ordered)
        if reference.head is None and len(ordered) < 2:
            return None
        if len(ordered) < abs(index):
            return Resolved(reference, Status.NONE, (), (), "fewer were named", 0.0)
        return self._picked(reference, ordered, index, "ordinal by first mention")

    def _names(self, kind: str) -> bool:
        return any(x.type == kind and self._talk.by_entity.get(x.id) for x in self._talk.entities)

    def _picked(self, reference: Reference, listed: Sequence[Entity], index: int, rule: str) -> Resolved:
        at = index - 1 if index > 0 else index
        candidates = tuple(
            Candidate(x, 1.0 if x is listed[at] else 0.5, {"place in list": n + 1.0}) for n, x in enumerate(listed)
        )
        ranked = tuple(sorted(candidates, key=lambda x: -x.score)[:_SHOWN])
        worth = _CONFIDENCE[Kind.ORDINAL] * (1.0 if "latest" in rule else 0.85)
        return Resolved(reference, Status.RESOLVED, (listed[at],), ranked, rule, round(worth, 3))

    def _newest(self, reference: Reference, ordered: Sequence[Entity]) -> Resolved:
        """ "the last commit": the one that came up last."""
        if not ordered:
            return Resolved(reference, Status.NONE, (), (), "nothing of this type was named", 0.0)
        return self._picked(reference, ordered, -1, "last one that came up")

    def _previous(self, reference: Reference) -> Resolved:
        ordered = order_of(
            self._talk, self._salience(reference.window), reference.heads or {}, is_typed=reference.head is not None
        )
        scored = self._score(replace(reference, words=())).candidates
        if len(ordered) < 2 or not scored:
            return Resolved(reference, Status.NONE, (), scored[:_SHOWN], "nothing came before", 0.0)
        at = ordered.index(scored[0].entity) if scored[0].entity in ordered else len(ordered) - 1
        entity = ordered[at - 1] if at else next(x.entity for x in scored if x.entity is not ordered[0])
        worth = _CONFIDENCE[Kind.ORDINAL] * (0.9 if at else 0.7)
        return Resolved(
            reference, Status.RESOLVED, (entity,), scored[:_SHOWN], "the one before the current", round(worth, 3)
        )

    def _other(self, reference: Reference, done: Sequence[Resolved]) -> Resolved | None:
        """Other than what the query names itself, else than what is spoken of now."""
        heads = reference.heads or self._agreeing(reference, _PRONOUN_TYPES)
        scored = self._score(replace(reference, heads=heads, words=())).candidates
        if reference.window is not None and reference.window.earlier:
            focus = self._score(replace(reference, heads=heads, words=(), window=None)).candidates
        else:
            focus = scored
        named = _named_before(reference, done, heads)
        if named is not None and (reference.head is not None or any(x.entity.type == named.type for x in scored)):
            focus = (Candidate(named, 1.0, {"name": 1.0}), *(x for x in focus if x.entity is not named))
        if not focus:
            return Resolved(reference, Status.NONE, (), (), "nothing of this type was named", 0.0)
        kinds = {focus[0].entity.type} if reference.head is None else set(heads)
        rest = tuple(x for x in scored if x.entity is not focus[0].entity and x.entity.type in kinds)
        if reference.is_plural:
            if not rest:
                return Resolved(reference, Status.NONE, (), (), "there is no other", 0.0)
            order = [
                x
                for x in order_of(self._talk, self._salience(None), heads, is_typed=True)
                if any(c.entity is x for c in rest)
            ]
            return Resolved(reference, Status.RESOLVED, tuple(order), rest[:_SHOWN], "the others", 0.75)
        pair = latest_list(self._talk, self._salience(None), dict.fromkeys(kinds, 1.0), 2, is_typed=True)
        if focus[0].entity in pair and len(pair) == 2:
            entity = next(x for x in pair if x is not focus[0].entity)
            return Resolved(reference, Status.RESOLVED, (entity,), rest[:_SHOWN], "the other of two", 0.8)
        return self._decided(reference, rest, "other than the current")

    def _plural(self, reference: Reference) -> Resolved | None:
        heads = reference.heads or self._agreeing(reference, _PRONOUN_TYPES)
        salience = self._salience(reference.window)
        words = content(reference.words)
        if words:
            described = [x for x in self._score(replace(reference, heads=heads)).candidates if x.evidence.get("named")]
            if len(described) > 1:
                kept = [x.entity for x in described]
                order = [x for x in order_of(self._talk, salience, heads, is_typed=True) if x in kept]
                return self._grouped(reference, order or kept, "all that are described so")
        if reference.ordinal is not None and reference.count:
            return self._some_of(reference, heads)
        group = latest_group(self._talk, salience, heads, reference.count, is_typed=reference.head is not None)
        if len(group) < 2:
            if reference.head is None:
                return None
            return Resolved(reference, Status.NONE, (), (), "fewer were named", 0.0)
        return self._grouped(reference, group, "latest group")

    def _some_of(self, reference: Reference, heads: Mapping[str, float]) -> Resolved | None:
        """ "the first two", "las dos últimas"."""
        salience, count = self._salience(reference.window), reference.count or 2
        is_typed = reference.head is not None
        listed = latest_list(self._talk, salience, heads, count, is_typed=is_typed)
        listed = listed or order_of(self._talk, salience, heads, is_typed=is_typed)
        if len(listed) < count:
            return Resolved(reference, Status.NONE, (), (), "fewer were named", 0.0) if is_typed else None
        return self._grouped(
            reference, listed[:count] if (reference.ordinal or 1) > 0 else listed[-count:], "part of a list"
        )

    @staticmethod
    def _grouped(reference: Reference, group: Sequence[Entity], rule: str) -> Resolved:
        candidates = tuple(Candidate(x, 1.0, {"group": float(len(group))}) for x in group)
        worth = _CONFIDENCE[Kind.PLURAL] * (1.0 if reference.head else 0.8)
        return Resolved(reference, Status.RESOLVED, tuple(group), candidates, rule, round(worth, 3))

    # --- scores

    def _salience(self, window: Window | None) -> Salience:
        known: Salience | None = self._talk.derived.get(window)
        if known is None:
            known = self._talk.derived[window] = Salience(self._talk, window)
        return known

    def _score(self, reference: Reference) -> _Scored:
        """Candidates that fit the type, best first, with description taken in."""
        salience = self._salience(reference.window)
        words = content(reference.words)
        rows: list[tuple[Entity, float, float, float, float]] = []
        for entity in self._talk.entities:
            fit = 1.0 if reference.heads is None else reference.heads.get(entity.type, 0.0)
            if not fit:
                continue
            weight = salience.weight(entity).total
            fit *= _convention(reference.head, entity)
            if entity.type in reference.preferred:
                fit *= _PREFERRED
            if reference.head == VAGUE and words and entity.type not in PHRASES:
                # "that thing with ..." is a matter more often than a piece of code.
                fit *= _NO_MATTER
            named, said = self._describing.match(words, entity) if words else (0.0, 0.0)
            if not weight and (not named or reference.window is not None or reference.kind is Kind.PRONOUN):
                continue
            rows.append((entity, fit, max(weight, _UNNAMED if named else 0.0), named, said))
        most = max((row[3] for row in rows), default=0.0)
        about = max((row[4] for row in rows), default=0.0)
        candidates = []
        for entity, fit, weight, named, said in rows[:_MOST]:
            # What is said of one of them leaves the others out.
            by_talk = (_UNSAID if about else 1.0) + _TOLD * said
            described = _UNDESCRIBED + _DESCRIBED * named + said if most else by_talk
            evidence = {"type": fit, "salience": round(weight, 4), "named": named, "said": said}
            candidates.append(Candidate(entity, fit * weight * described, evidence))
        candidates.sort(key=lambda x: -x.score)
        if most and len(candidates) > 1:
            # A name that is described beats one that is only nearer.
            candidates.sort(key=lambda x: (x.evidence["named"] < most, -x.score))
        return _Scored(tuple(candidates), most, about)

    def _agreeing(self, reference: Reference, types: Mapping[str, float]) -> Mapping[str, float]:
        """Types a word of this gender may stand for, in its language."""
        if not reference.gender:
            return types
        genders = grammar(reference.language).genders
        agreement = {kind: genders[kind].get(reference.gender, 0.0) if kind in genders else 0.8 for kind in types}
        return {kind: worth * agreement[kind] for kind, worth in types.items() if agreement[kind]}

    def _decided(self, reference: Reference, candidates: Sequence[Candidate], rule: str) -> Resolved:
        shown = tuple(candidates[:_SHOWN])
        if not candidates:
            return Resolved(reference, Status.NONE, (), (), "nothing of this type was named", 0.0)
        best = candidates[0]
        rival = candidates[1] if len(candidates) > 1 else None
        is_described = rival is not None and best.evidence.get("named", 0) > rival.evidence.get("named", 0)
        ratio = rival.score / best.score if rival is not None and best.score and not is_described else 0.0
        if ratio >= _TIE:
            return Resolved(
                reference, Status.AMBIGUOUS, (), shown, f"{rule}: near tie", round(0.5 * (1 - ratio) + 0.3, 3)
            )
        worth = _CONFIDENCE[reference.kind] * (1 - 0.3 * ratio) * (0.7 + 0.3 * best.evidence.get("type", 1.0))
        return Resolved(reference, Status.RESOLVED, (best.entity,), shown, rule, round(worth, 3))


def _without_contrasted(done: Sequence[Resolved]) -> list[Resolved]:
    """A name that only says what "the other" is other than is not meant itself."""
    others = [x for x in done if x.reference.kind is Kind.OTHER and x.entities and not x.reference.is_plural]
    kinds = {x.entities[0].type for x in others}
    first = max((x.reference.span for x in others), default=(0, 0))
    return [
        replace(x, serves=True)
        if x.reference.kind is Kind.EXPLICIT and x.reference.span < first and x.entities and x.entities[0].type in kinds
        else x
        for x in done
    ]


def _named_before(reference: Reference, done: Sequence[Resolved], heads: Mapping[str, float]) -> Entity | None:
    """What the query names in full before it speaks of the other: "refund is fine, fix the other one"."""
    found = [
        x.entities[0]
        for x in done
        if x.reference.kind is Kind.EXPLICIT and x.reference.span < reference.span and x.entities
    ]
    return next((x for x in reversed(found) if x.type in heads), None)


def _convention(head: str | None, entity: Entity) -> float:
    """How the noun goes with the way the thing is named: a hook is called ``useSomething``."""
    pattern, otherwise = CONVENTIONS.get(head or "", (None, 1.0))
    return 1.0 if pattern is None or pattern.match(entity.name) else otherwise


def _belongs(entity: Entity, owner: Entity) -> bool:
    if entity.type == "file":
        return owner.file is not None and owner.file == entity.name
    return (
        entity.parent == owner.id
        or owner.parent == entity.id
        or (entity.file is not None and entity.name.startswith(f"{owner.name}."))
    )


def _is_ending(words: Sequence[str], entity: Entity) -> bool:
    """ "that yaml": a file by the ending of its name."""
    return entity.type == "file" and len(words) == 1 and entity.name.lower().endswith(f".{words[0]}")


def _share(words: Iterable[str], entity: Entity) -> float:
    """How much of a name the words say, when the name has all of them."""
    listed = tuple(words)
    best = 0.0
    for form in (entity.name, *entity.aliases):
        split = name_words(form)
        own = content(split) or split
        if own and all(any(alike(word, x) for x in own) for word in listed):
            best = max(best, min(1.0, len(listed) / len(own)))
    return best
