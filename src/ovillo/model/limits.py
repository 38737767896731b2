"""Numbers that bound work and answers, each with its reason. Owns no behaviour."""

from __future__ import annotations

#: One JSON line or document larger than this is listed as damage, not parsed (bytes).
MAX_RECORD_BYTES = 64 * 1024 * 1024
#: JSON nested deeper than this is damage; Python's own parser dies near 1,000.
MAX_JSON_DEPTH = 200
#: Text of one part that is kept whole in the search index (characters); the rest is stored, not indexed.
MAX_INDEXED_CHARS = 200_000
#: Of a title that a client wrote, and of a name in an import; every list of sessions holds their titles (characters).
MAX_NAME_CHARS = 4_096
#: No system has longer paths; what looks along one takes the square of its length (characters).
MAX_PATH_CHARS = 4_096
#: Messages a reader puts in one delta before it starts the next.
DELTA_MESSAGES = 500

#: Answers to agents: OpenCode hands its model none of a result over 51,200 bytes or 2,000 lines.
MAX_ANSWER_BYTES = 48 * 1024
MAX_ANSWER_LINES = 1_900
DEFAULT_ANSWER_TOKENS = 8_000
MAX_ANSWER_TOKENS = 20_000

#: Of a prompt, in the outline of a session.
OPENING_CHARS = 160
#: Texts of messages read at once where all of a long session pass by: a page ends behind the message that passes it.
PASSING_CHARS = 4 * 1024 * 1024

#: The largest whole number that is stored.
MAX_STORED = (1 << 63) - 1

LIST_LIMIT_DEFAULT = 50
LIST_LIMIT_MAX = 200
SEARCH_LIMIT_DEFAULT = 20
SEARCH_LIMIT_MAX = 100
#: A query is cut here and says so (milliseconds).
SEARCH_BUDGET_MS = 400
#: A regular expression without literals reads every text.
PATTERN_BUDGET_MS = 1_500
