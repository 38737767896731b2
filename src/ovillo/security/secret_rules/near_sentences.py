"""How a value stands near a word for a secret in a sentence, an answer, or behind a login, in four languages and some German.

Owns the expressions only; ``secret_nearness`` walks by them. Signs are in ``near_patterns``.
"""

from __future__ import annotations

from ovillo.model.late_pattern import LatePattern
from ovillo.security.secret_rules.alternatives import either, words

# --- words of a sentence

TOKEN = LatePattern(either(r"\[redacted:[^\]\s]*\]", r"[^\s\"'`«»“”‘’()<>|\[\]→\\]+", "→", r"\\"))
#: What stands between words of a sentence; anything else is code.
WALKED = LatePattern(
    either(
        r"[^\W_]+(?:[-'’./@_][^\W_]+)*[,:;.!?…]*",
        r"https?://[\w./@-]+:?",
        r"[-–—→*•&/+,:;.!?…]+",
        "->",
        "=>",
        "<-",
        r"\[redacted:[a-z_0-9]+:[0-9a-f]{6}\]\S{0,3}",
    )
)
SENTENCE_END = LatePattern(r"[.!?…][*_]*$")
#: A key may be plain hexadecimal, or a UUID, with so many words between.
DIRECTLY = 2
#: What stands behind a value that a word follows: "X is the password", "usa X como clave".
LEADS_BACK = LatePattern(words("is was as es era como est comme é è come als ist war <- ←"))
#: What brings the value: a colon, or a form of "to be", to become, to remain.
BRINGS = LatePattern(
    "(?i)"
    + words(
        ".*[:=]",
        "is es est é è ist lautet was era es: (?:it|that|pw|c|l)?['’]?s c['’]est",
        "becomes? remains? to as now ahora agora siendo sendo virou au auf zu",
    )
)
#: Between a first and a second value.
JOINS = LatePattern(
    "(?i)" + words("to a à en por para pra or o ou and y et e not pero but no → -> => / , par instead now is es est é")
)
#: "use X to log in"
TO_LOG_IN = LatePattern(r"[ \t](?:to|para|pra|pour|um zu|per)[ \t]*$")

# --- questions and answers

#: The line ends with a question or a colon, or soon after the word; and the line that answers, perhaps below an empty one.
ASKS = LatePattern(r"[^\n=]{0,100}?[?:][ \t*_]*$|[ \t]*(?:[^\W\d_]+[ \t]*){0,2}$")
TOLD = LatePattern(r"[^\n=]{0,100}?[?:][ \t*_]*$")
ANSWER = LatePattern(r"[ \t]*\r?\n(?:[ \t]*\r?\n)?(?:[ \t]*```\w*[ \t]*\r?\n)?([^\n]{6,160}?)[ \t]*(?:\r?\n|$)")
#: A command that prints what its line speaks of.
COMMAND = LatePattern(r"(?:^|[\n])[^\n]{0,60}?(?:[$#%>❯]|PS [^\n>]*>)[ ]+(?:[a-z./]|$)")
#: Who answers, and how an answer begins: a time, a number, a name, a bullet, a form of "to be".
SPEAKER = LatePattern(
    "(?i)"
    + either(
        r"\[?\d{1,2}:\d\d(?::\d\d)?\]?",
        r"\d{1,2}[.)]",
        r"[\w.-]{1,16}:",
        r"[-–—*•>+|]+",
        words("é es est it['’]s c['’]est is"),
        r"\d+→",
    )
)
_PACKAGE_FIELDS = words(r"checksum integrity resolved resolution version digest hash sha\d* md5 etag commit rev ref")
#: Fields of lists of packages and of commits.
OF_PACKAGE = LatePattern(rf"(?i)(?:{_PACKAGE_FIELDS}):")

# --- logins and codes

#: Up to four words between "log in" and the name.
_BEFORE_NAME = words(
    "as with for the of to are is is: in on con como de del las? son avec sont com são es for: using und e en is",
    "us(?:e|a|ing) user usuario usuário utilisateur account cuenta conta compte test prueba teste demo [a-z]{2,12}",
)
_JOINS_PASSWORD = words("and y et e und with con avec com using pw p: - – — password pass")
#: Behind a login: somebody's name, and what joins a password to it.
LOGIN = LatePattern(
    rf"(?i)(?:[ \t:→(\"'`*-]+(?:{_BEFORE_NAME})){{0,4}}"
    r"[ \t:→(\"'`*-]+(?P<user>[a-z][\w.@+-]{1,40})[\"'`]*"
    rf"(?:[ \t]*(?://?|\||:)[ \t]*|[ \t]+(?:{_JOINS_PASSWORD})[ \t]+|[ \t]+)"
    r"[\"'`]?(?P<value>[^\s\"'`<>,;()\[\]{}|]{6,64})"
)
_BEFORE_CODE = words(
    "code pin for of the to is was es est era é ist lautet c['’]est a de del da do du la el le my your this says?",
    r"sigue siendo para on now number [^\W\d_]{1,10} j['’]ai",
)
_BRINGS_CODE = words("is es est é ist lautet says was c['’]est")
#: Digits behind a word for a code: "the door code is 4711", "PIN: 123 456".
CODE = LatePattern(
    rf"(?i)(?:[ \t]+(?:{_BEFORE_CODE}))*?(?:[ \t]*[:=→*]|[ \t]+(?:{_BRINGS_CODE})|)"
    r"[ \t*:]*[\"'`]?(?P<value>[0-9]{4,8}|[0-9]{3}[ -][0-9]{3})(?![\w%.:/-]?\w)"
)
#: A list of them, one or several a line.
CODES = LatePattern(
    r"(?:[^\n]{0,80}?[\n:](?:[ \t]*\n){0,2})"
    r"(?P<list>(?:(?:[ \t>*|+-]|[0-9]+[.)→])*\b[0-9A-Za-z]{4,6}[-_ ]?[0-9A-Za-z]{4,6}\b[ \t,;|*]*\n?){2,20})"
)
ONE_CODE = LatePattern(r"\b[0-9A-Za-z]{4,6}[-_ ]?[0-9A-Za-z]{4,6}\b")
#: A recovery phrase: four words or more behind the word for it.
WORDS_APART = LatePattern(
    r"[ \t]*[:=][ \t]*[\"'`]?((?:[a-zñáéíóúàèç]{3,12}[ ]){3,7}[a-zñáéíóúàèç]{3,12})[\"'`]?[.]?[ \t]*(?:\r?\n|$)"
)
