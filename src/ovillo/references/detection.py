"""Which expressions of a query refer to something said before.

Owns the grammar of referring expressions: noun phrases with their determiner, ordinals and "other", phrases without a
noun, pronouns and clitics, places, and what only looks like one (pleonastic "it", "il faut"). What they refer to is the
resolver's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ovillo.references.lexicons import CODES, FITS, VAGUE, Features, Grammar, Noun, grammar, languages_of
from ovillo.references.model import Kind, Reference, Window
from ovillo.references.windows import window_in
from ovillo.references.words import Token, fold, tokens

#: Words between a determiner and its noun, words after a noun that describe it.
_BEFORE, _AFTER = 5, 7
_NUMBER = re.compile(r"#?\d+$")
_NUMBER_WORDS = frozenset(("number", "número", "numero", "numéro"))
_GENITIVE = frozenset({"'s", "s"})
_ARTICLE_OF_LANGUAGE = frozenset(
    {"o", "a", "os", "as", "do", "da", "dos", "das", "no", "na", "nos", "nas", "ao", "pro", "pra", "le", "du", "au"}
)
_ASKING = frozenset(["which", "what", "qué", "que", "cuál", "quel", "quelle", "qual"])
_INVERTED = re.compile(r"^(?P<verb>\w+(?:-t)?)-(?P<pronoun>ils?|elles?)$")


@dataclass(frozen=True, slots=True)
class Detected:
    """``references`` in the query's order; ``named`` are phrases whose noun is unknown: something only when it is part of
    a name."""

    languages: tuple[str, ...]
    references: tuple[Reference, ...]
    window: Window | None


@dataclass(slots=True)
class _Phrase:
    """A noun phrase while it is read."""

    start: int
    end: int
    code: str
    determiner: str = ""
    features: Features = field(default_factory=lambda: Features("", ""))
    ordinal: int | None = None
    count: int | None = None
    is_other: bool = False
    is_previous: bool = False
    is_all: bool = False
    words: list[str] = field(default_factory=list)


def detect(query: str, now: int, leaning: str | None = None) -> Detected:
    """``now`` in milliseconds; ``leaning`` is the language of the conversation."""
    spoken = tokens(query)
    languages = languages_of((token.lower for token in spoken), leaning)
    window, said = window_in(query, now, languages)
    reader = _Reader(query, spoken, languages, window, said)
    return Detected(languages, tuple(sorted(reader.read(), key=lambda x: x.span)), window)


class _Reader:
    def __init__(
        self,
        query: str,
        spoken: Sequence[Token],
        languages: Sequence[str],
        window: Window | None,
        said: Sequence[tuple[int, int]],
    ) -> None:
        self._query = query
        self._tokens = list(spoken)
        self._languages = languages
        # The query's own first: a word of two languages is read in the likelier one.
        self._grammars = [grammar(code) for code in (*languages, *(x for x in CODES if x not in languages))]
        self._active = [grammar(code) for code in languages]
        self._window = window
        self._said = said
        self._taken: set[int] = set()
        # Words that describe what a phrase names.
        self._describing: set[int] = set()
        # Words that only look like references.
        self._idle = self._idle_tokens()
        self._found: list[Reference] = []

    def read(self) -> list[Reference]:
        self._headed()
        self._counted_alone()
        self._without_noun()
        self._by_verb()
        self._enclitics()
        self._pronouns()
        self._places()
        self._unknown_nouns()
        return self._found

    # --- gates

    def _idle_tokens(self) -> set[int]:
        """Tokens within constructions that refer to nothing, or within an expression of time."""
        idle = {n for n, token in enumerate(self._tokens) for start, end in self._said if start <= token.start < end}
        folded, places = _folded(self._tokens)
        for each in self._active:
            for pattern in (each.pleonastic, each.not_nouns):
                for match in pattern.finditer(folded):
                    idle.update(
                        n for n, (start, end) in enumerate(places) if start >= match.start() and end <= match.end()
                    )
        return idle

    # --- noun phrases with a noun we know

    def _headed(self) -> None:
        for number, _ in enumerate(self._tokens):
            if number in self._taken or number in self._idle:
                continue
            noun = self._noun(number)
            if noun is None or self._is_premodifier(number, noun):
                continue
            phrase = self._leftwards(number, noun)
            if phrase is not None:
                self._finish(phrase, number, noun)

    def _noun(self, number: int, code: str | None = None) -> Noun | None:
        lower = self._tokens[number].lower
        ordered = [grammar(code)] if code else self._grammars
        return next((each.nouns[lower] for each in ordered if lower in each.nouns), None)

    def _is_premodifier(self, number: int, noun: Noun) -> bool:
        """Whether the noun stands before the head of an English compound: "the test file"."""
        after = number + 1
        if after >= len(self._tokens) or self._tokens[after].breaks or "en" not in self._languages:
            return False
        if self._tokens[after].lower in ("number",):
            return False
        other = grammar("en").nouns.get(self._tokens[after].lower)
        return other is not None and self._tokens[number].lower in grammar("en").nouns and other.type != noun.type

    def _leftwards(self, head: int, noun: Noun) -> _Phrase | None:
        """Reads from the noun back to its determiner; ``None`` for an indefinite phrase or one without."""
        phrase = _Phrase(head, head + 1, noun.language)
        unknown = 0
        for number in range(head - 1, max(-1, head - 1 - _BEFORE), -1):
            if self._tokens[number + 1].breaks or number in self._taken:
                break
            lower = self._tokens[number].lower
            if lower in _GENITIVE and number and self._is_time(number - 1):
                # "yesterday's class".
                phrase.start, phrase.determiner = number - 1, "definite"
                return phrase
            if lower in self._active[0].numbers and self._modifier(phrase, lower):
                phrase.start = number
                continue
            kind, features, code = self._determiner(lower, noun)
            if kind == "indefinite" and self._window is not None and lower in _ASKING:
                # "which function did we change yesterday": the time makes it definite.
                kind = "definite"
            if kind == "indefinite" and lower in ("que", "qui", "that", "which", "what"):
                kind = ""
            if kind == "indefinite":
                return None
            if kind:
                if kind == "all":
                    phrase.is_all = True
                    phrase.start = number
                    continue
                phrase.start, phrase.determiner, phrase.features, phrase.code = number, kind, features, code
                return self._all_before(phrase)
            if self._modifier(phrase, lower):
                phrase.start = number
                continue
            unknown += 1
            if unknown > 2 or self._is_little(lower):
                break
            phrase.words.insert(0, lower)
        if phrase.is_all and phrase.count:
            phrase.determiner = "definite"
            return phrase
        return None

    def _all_before(self, phrase: _Phrase) -> _Phrase:
        """ "all those tests", "todas esas"."""
        before = phrase.start - 1
        if before >= 0 and any(self._tokens[before].lower in each.all for each in self._grammars):
            phrase.is_all = True
            phrase.start = before
        elif before > 0 and self._tokens[before].lower == "of" and self._tokens[before - 1].lower in ("all", "both"):
            phrase.is_all = True
            phrase.start = before - 1
        return phrase

    def _determiner(self, lower: str, noun: Noun) -> tuple[str, Features, str]:
        """Its kind: demonstrative, definite, possessive, both, all, indefinite or none."""
        none = Features("", "")
        for each in self._grammars:
            active = each.code in self._languages
            if lower in each.demonstratives:
                features = each.demonstratives[lower]
                if each.code != "en" or noun.is_plural == (features.number == "p"):
                    return "demonstrative", features, each.code
            if lower in each.articles and (active or lower not in _ARTICLE_OF_LANGUAGE):
                return "definite", each.articles[lower], each.code
            if active and lower in each.possessives:
                return "possessive", none, each.code
            if lower in each.both and active:
                return "both", none, each.code
            if active and lower in each.all:
                return "all", none, each.code
            if active and lower in each.indefinites:
                return "indefinite", none, each.code
        return "", none, noun.language

    def _modifier(self, phrase: _Phrase, lower: str) -> bool:
        for each in self._grammars:
            active = each.code in self._languages
            if lower in each.ordinals and (active or len(lower) > 4):
                phrase.ordinal = each.ordinals[lower]
            elif active and (lower in each.numbers or _NUMBER.match(lower)):
                phrase.count = each.numbers.get(lower) or int(lower.lstrip("#")[:3])
            elif lower in each.others:
                phrase.is_other = True
            elif lower in each.previous:
                phrase.is_previous = True
            else:
                continue
            return True
        return False

    def _finish(self, phrase: _Phrase, head: int, noun: Noun) -> None:
        after = head + 1
        while after < len(self._tokens) and after <= head + 2 and not self._tokens[after].breaks:
            lower = self._tokens[after].lower
            known = _Phrase(0, 0, "")
            is_modifier = after not in self._idle and self._modifier(known, lower)
            is_numbered = noun.type == "decision" and _NUMBER.match(lower) is not None
            if not is_modifier and not is_numbered:
                break
            if noun.is_plural and known.count and not phrase.count:
                break
            phrase.ordinal = known.ordinal or (known.count if not noun.is_plural else None) or phrase.ordinal
            phrase.is_other |= known.is_other
            phrase.is_previous |= known.is_previous
            after += 1
        number = self._numbered(head)
        if number is not None:
            phrase.ordinal, after = number[0], number[1]
        words, _end, owner = self._description(after, noun.language)
        is_plural = noun.is_plural or phrase.determiner == "both" or bool(phrase.count and phrase.count > 1)
        kind = _kind(phrase, is_plural)
        self._add(
            kind,
            phrase.start,
            max(after, head + 1),
            noun.language if noun.language in self._languages else self._languages[0],
            head=noun.type,
            heads=None if noun.type == VAGUE else FITS[noun.type],
            # The type says more than the gender of its noun.
            gender="",
            is_plural=is_plural,
            count=2 if phrase.determiner == "both" else phrase.count,
            ordinal=phrase.ordinal,
            words=(*phrase.words, *words),
            points=phrase.determiner == "demonstrative",
            is_previous=phrase.is_previous,
            owner_span=owner,
        )

    def _numbered(self, head: int) -> tuple[int, int] | None:
        """ "option 2", "option number three", "la opción B"."""
        after = head + 1
        if after < len(self._tokens) and self._tokens[after].lower in _NUMBER_WORDS:
            after += 1
        if after >= len(self._tokens) or self._tokens[after].breaks:
            return None
        text = self._tokens[after].text
        if _NUMBER.match(text) and len(text) < 3:
            return int(text.lstrip("#")), after + 1
        if len(text) == 1 and text.isupper() and "A" <= text <= "F":
            return ord(text) - ord("A") + 1, after + 1
        for each in self._active if after > head + 1 else ():
            if text.lower() in each.numbers and after > head + 1:
                return each.numbers[text.lower()], after + 1
        return None

    def _description(self, after: int, language: str) -> tuple[list[str], int, tuple[int, int] | None]:
        """Words that tell which one: after "of", after a relative, after "we" in English."""
        if after >= len(self._tokens) or self._tokens[after].breaks:
            return [], after, None
        lower = self._tokens[after].lower
        opens_of = any(lower in each.of for each in self._grammars if each.code in (*self._languages, language))
        opens = opens_of or any(lower in each.relatives or lower in each.subjects for each in self._active)
        if not opens:
            return [], after, None
        words: list[str] = []
        owner: tuple[int, int] | None = None
        number = after + 1
        while number < len(self._tokens) and number <= after + _AFTER and not self._tokens[number].breaks:
            token = self._tokens[number]
            if opens_of and owner is None and number <= after + 2 and self._determined_noun(number):
                owner = (self._tokens[after].start, token.end)
            if number not in self._idle:
                words.append(token.lower)
                self._describing.add(number)
            number += 1
        if opens_of:
            self._describing.add(after)
        return words, number, owner

    def _determined_noun(self, number: int) -> bool:
        noun = self._noun(number)
        if noun is None or number == 0:
            return False
        return self._determiner(self._tokens[number - 1].lower, noun)[0] in ("demonstrative", "definite")

    # --- noun phrases without a noun

    def _without_noun(self) -> None:
        for number, token in enumerate(self._tokens):
            if number in self._taken or number in self._idle:
                continue
            for each in self._active:
                if (
                    self._both(each, number, token)
                    or self._counted(each, number, token)
                    or self._bare(each, number, token)
                ):
                    break

    def _counted_alone(self) -> None:
        """ "number three", "option 2": a number that is a name."""
        for number, token in enumerate(self._tokens):
            if number in self._taken or number in self._idle:
                continue
            noun = self._noun(number)
            is_number = token.lower in _NUMBER_WORDS
            if not is_number and (noun is None or noun.type != "decision"):
                continue
            numbered = self._numbered(number - 1 if is_number else number)
            if numbered is not None and numbered[1] > number + 1:
                heads = None if noun is None else FITS[noun.type]
                head = None if noun is None else noun.type
                self._add(
                    Kind.ORDINAL, number, numbered[1], self._languages[0], head=head, heads=heads, ordinal=numbered[0]
                )

    def _by_verb(self) -> None:
        """ "what did we decide yesterday": the verb says what kind of thing, the time says which."""
        if (
            self._window is None
            or self._found
            or not any(token.lower in _ASKING or token.lower == "quoi" for token in self._tokens)
        ):
            return
        folded, places = _folded(self._tokens)
        for each in self._active:
            for kind, pattern in each.verbs.items():
                match = pattern.search(folded)
                inside = [n for n, (start, _) in enumerate(places) if match and start == match.start()]
                if inside:
                    self._add(Kind.DEFINITE, inside[0], inside[0] + 1, each.code, head=kind, heads=FITS[kind])
                    return

    def _both(self, each: Grammar, number: int, token: Token) -> bool:
        """ "both", "ambas", "les deux", "las dos", "those two"."""
        after = number + 1
        ends = after >= len(self._tokens) or self._tokens[after].breaks or self._is_little(self._tokens[after].lower)
        if token.lower in each.all and each.code != "en" and token.lower.endswith("s") and ends:
            self._add(Kind.PLURAL, number, number + 1, each.code, is_plural=True, gender=_gender_of(token.lower))
            return True
        if token.lower in each.both:
            self._add(
                Kind.PLURAL, number, number + 1, each.code, is_plural=True, count=2, gender=_gender_of(token.lower)
            )
            return True
        return False

    def _counted(self, each: Grammar, number: int, token: Token) -> bool:
        """A determiner with an ordinal, "other" or a number, and no noun after."""
        features = each.articles.get(token.lower) or each.demonstratives.get(token.lower)
        if features is None:
            return False
        phrase = _Phrase(number, number + 1, each.code)
        at = number + 1
        while at < len(self._tokens) and not self._tokens[at].breaks and at not in self._idle:
            if not self._modifier(phrase, self._tokens[at].lower):
                break
            at += 1
        if at == number + 1:
            return False
        if at < len(self._tokens) and self._tokens[at].lower in each.headless and not self._tokens[at].breaks:
            at += 1
        elif self._noun_follows(at, each):
            return False
        is_plural = bool(phrase.count and phrase.count > 1) or features.number == "p"
        if is_plural and phrase.count is None and not phrase.is_other:
            return False
        words, _, _ = self._description(at, each.code)
        if not is_plural and phrase.count == 1 and phrase.ordinal is None:
            return False
        kind = Kind.PLURAL if is_plural and not phrase.is_other else Kind.OTHER if phrase.is_other else Kind.ORDINAL
        if phrase.is_previous and phrase.ordinal is None:
            kind = Kind.ORDINAL
        gender = features.gender or _gender_of(self._tokens[at - 1].lower)
        self._add(
            kind,
            number,
            at,
            each.code,
            gender=gender,
            is_plural=is_plural,
            count=phrase.count,
            ordinal=phrase.ordinal,
            words=tuple(words),
            points=token.lower in each.demonstratives,
            is_previous=phrase.is_previous,
        )
        return True

    def _bare(self, each: Grammar, number: int, token: Token) -> bool:
        """ "that one", "ésa", "celle-là", "essa", "la de ayer", "celui qui", "the one that"."""
        after = number + 1
        follows = self._tokens[after].lower if after < len(self._tokens) and not self._tokens[after].breaks else ""
        features = each.headless.get(token.lower)
        if each.code == "en":
            determined = (
                number
                and self._tokens[number - 1].lower in ("the", "this", "that", "these", "those")
                and not token.breaks
            )
            if features is None or not determined:
                return False
            words, _, _ = self._description(after, each.code)
            points = self._tokens[number - 1].lower != "the"
            if not points and not words and not self._said:
                return False
            self._add(
                Kind.HEADLESS,
                number - 1,
                after,
                each.code,
                words=tuple(words),
                points=points,
                is_plural=features.number == "p",
            )
            return True
        opens = follows in each.of or follows in each.relatives
        if features is not None and (not follows or opens or self._is_little(follows) or after in self._idle):
            words, _, _ = self._description(after, each.code)
            self._add(
                Kind.HEADLESS,
                number,
                after,
                each.code,
                gender=features.gender,
                is_plural=features.number == "p",
                words=tuple(words),
                points=True,
            )
            return True
        article = each.articles.get(token.lower)
        if article is None or each.code == "fr" or token.lower not in _PLAIN_ARTICLES[each.code]:
            return False
        if (
            f"{token.lower} {follows}" in each.not_proclitic
            or not opens
            or (follows in each.relatives and each.code == "pt")
        ):
            return False
        words, _, _ = self._description(after, each.code)
        if not words and not self._said:
            return False
        self._add(
            Kind.HEADLESS,
            number,
            after,
            each.code,
            gender=article.gender,
            is_plural=article.number == "p",
            words=tuple(words),
        )
        return True

    def _noun_follows(self, at: int, each: Grammar) -> bool:
        """Whether the phrase goes on with a noun that is no entity: "the first time", "la otra semana"."""
        if at >= len(self._tokens) or self._tokens[at].breaks:
            return False
        lower = self._tokens[at].lower
        return lower in each.counted or (each.code == "en" and not self._is_little(lower) and at not in self._idle)

    # --- pronouns

    def _enclitics(self) -> None:
        for number, token in enumerate(self._tokens):
            for each in self._active:
                if each.enclitic is None or number in self._taken or token.lower in each.not_enclitics:
                    continue
                match = each.enclitic.match(token.lower)
                if match and self._noun(number) is None:
                    pronoun = match["pronoun"]
                    gender, is_plural = _clitic(pronoun, each.code)
                    self._add(Kind.PRONOUN, number, number + 1, each.code, gender=gender, is_plural=is_plural)
                    break

    def _pronouns(self) -> None:
        for number, token in enumerate(self._tokens):
            if number in self._taken or number in self._idle:
                continue
            for each in self._active:
                if self._pronoun(each, number, token):
                    break

    def _pronoun(self, each: Grammar, number: int, token: Token) -> bool:
        features = each.pronouns.get(token.lower)
        inverted = _INVERTED.match(token.lower) if each.code == "fr" else None
        if inverted and not self._has_noun_phrase():
            features = each.pronouns[inverted["pronoun"]]
        if features is None:
            features = self._proclitic(each, number, token)
        if features is None and token.lower in each.possessives and each.code == self._languages[0]:
            return self._possessed(each, number)
        if features is None:
            return False
        self._add(Kind.PRONOUN, number, number + 1, each.code, gender=features.gender, is_plural=features.number == "p")
        return True

    def _proclitic(self, each: Grammar, number: int, token: Token) -> Features | None:
        """ "no la llama nadie", "peux-tu la renommer", "lo pruebas"."""
        features = each.proclitics.get(token.lower)
        after = number + 1
        if features is None or after >= len(self._tokens) or self._tokens[after].breaks:
            return None
        follows = self._tokens[after].lower
        before = self._tokens[number - 1].lower if number else ""
        if f"{token.lower} {follows}" in each.not_proclitic or self._noun(after) is not None:
            return None
        if token.lower in each.proclitic_sure:
            return features
        if token.breaks or before not in each.proclitic_after:
            return None
        return features if _is_verb(follows, each.code) else None

    def _possessed(self, each: Grammar, number: int) -> bool:
        """ "its signature": an owner, whatever it owns."""
        if number + 1 >= len(self._tokens) or each.code not in ("en",):
            return False
        self._add(Kind.PRONOUN, number, number + 1, each.code)
        return True

    def _has_noun_phrase(self) -> bool:
        return any(x.kind not in (Kind.PRONOUN, Kind.PLACE) for x in self._found)

    def _places(self) -> None:
        if self._found:
            return
        folded, places = _folded(self._tokens, accents=True)
        for each in self._active:
            no = [match.span() for match in each.not_place.finditer(folded)]
            for match in each.place.finditer(folded):
                if any(start < match.end() and match.start() < end for start, end in no):
                    continue
                inside = [n for n, (start, end) in enumerate(places) if start >= match.start() and end <= match.end()]
                if inside and not self._taken.intersection(inside) and not self._idle.intersection(inside):
                    is_inner = len(inside) > 1 or "-" in match.group()
                    self._add(Kind.PLACE, inside[0], inside[-1] + 1, each.code, head="place" if is_inner else "spot")
                    return

    def _unknown_nouns(self) -> None:
        """ "the leak", "esa pasarela": something only when it is part of a name."""
        for number, token in enumerate(self._tokens):
            if number in self._taken or number in self._idle or number in self._describing:
                continue
            for each in self._active:
                points = token.lower in each.demonstratives
                if not points and token.lower not in each.articles:
                    continue
                words = self._run(number + 1)
                if words and not any(n in self._taken for n in range(number, number + 1 + len(words))):
                    self._add(Kind.NAMED, number, number + 1 + len(words), each.code, words=tuple(words), points=points)
                break

    def _run(self, at: int) -> list[str]:
        words: list[str] = []
        while at < len(self._tokens) and len(words) < 4 and not self._tokens[at].breaks and at not in self._taken:
            lower = self._tokens[at].lower
            if self._is_little(lower) and not words:
                break
            if self._is_little(lower) and not any(lower in each.of for each in self._active):
                break
            words.append(lower)
            at += 1
        while words and self._is_little(words[-1]):
            words.pop()
        return words

    # --- small things

    def _is_little(self, lower: str) -> bool:
        return any(
            lower in each.little or lower in each.of or fold(lower) in each.describes_nothing for each in self._active
        )

    def _is_time(self, number: int) -> bool:
        return any(start <= self._tokens[number].start < end for start, end in self._said)

    def _add(self, kind: Kind, start: int, end: int, language: str, **given: object) -> None:
        span = self._tokens[start].start, self._tokens[end - 1].end
        self._taken.update(range(start, end))
        self._found.append(
            Reference(self._query[span[0] : span[1]], span, kind, language, window=self._window, **given)  # type: ignore[arg-type]
        )


_PLAIN_ARTICLES = {"es": ("el", "la", "los", "las"), "pt": ("o", "a", "os", "as"), "en": ()}
_FINITE = re.compile(r"(?:o|as|a|amos|emos|imos|an|en|es|e|ó|é|í|ste|ron|aba|ía|rá|ré|ou|eu|am|em|ei|r|rei)$")
_FRENCH_VERB = re.compile(r"(?:er|ir|re|oir|e|es|ons|ez|ent|ait|a|ai|as|ais|t|s)$")


def _is_verb(word: str, code: str) -> bool:
    """Whether the form could be one of a verb; weak, asked only where a verb is expected."""
    return bool((_FRENCH_VERB if code == "fr" else _FINITE).search(word))


def _kind(phrase: _Phrase, is_plural: bool) -> Kind:
    if phrase.is_other:
        return Kind.OTHER
    if is_plural:
        return Kind.PLURAL
    if phrase.ordinal is not None or phrase.is_previous:
        return Kind.ORDINAL
    if phrase.determiner == "demonstrative":
        return Kind.DEMONSTRATIVE
    return Kind.POSSESSIVE if phrase.determiner == "possessive" else Kind.DEFINITE


def _gender_of(word: str) -> str:
    bare = word.rstrip("s")
    return "f" if bare.endswith(("a", "ère", "ième_", "onde")) else "m" if bare.endswith(("o", "er", "ier")) else ""


def _clitic(pronoun: str, code: str) -> tuple[str, bool]:
    is_plural = pronoun.endswith("s")
    bare = pronoun.rstrip("s")
    if code == "fr":
        return ("" if is_plural else "f" if bare == "la" else "m"), is_plural
    return ("f" if bare.endswith("a") else "m"), is_plural


def _folded(spoken: Iterable[Token], *, accents: bool = False) -> tuple[str, list[tuple[int, int]]]:
    """Folded words with one space between them, and the span of each there; breaks are kept as commas and full stops."""
    text = ""
    places: list[tuple[int, int]] = []
    for token in spoken:
        if token.breaks and text:
            text += " ."
        if text and not text.endswith("'"):
            text += " "
        word = token.lower if accents else fold(token.lower)
        # "it's" is written "it s", "isn't" "isnt": patterns have no apostrophes but those of French.
        word = word.removeprefix("'").replace("n't", "nt")
        places.append((len(text), len(text) + len(word)))
        text += word
    return text, places
