"""Behaviours promised to users, by id, with the page that promises them.

A test names what it shows with ``@pytest.mark.requirement("ID")``; ``test_requirements.py`` checks both
ways. One section an area; ids are ``AREA-n`` and are never used again for something else.
"""

from __future__ import annotations

#: id -> (promise, source)
READERS: dict[str, tuple[str, str]] = {
    "READ-80": ("Gemini CLI: sessions, prompts and answers equal the ground truth", "issue 2; gemini fixtures"),
    "READ-81": ("Gemini CLI: tokens of every answer equal the ground truth, normalised", "issue 2; formats 3, 4"),
    "READ-82": ("Gemini CLI: tool calls equal the ground truth", "issue 2; gemini fixtures"),
    "READ-83": ("Gemini CLI: lineage and project directory are known", "formats 3"),
    "READ-84": ("Gemini CLI: reading changes no byte of the source", "DESIGN 5"),
    "READ-85": ("Gemini CLI: a line written again with the same id counts once", "formats 3"),
    "READ-86": ("Gemini CLI: a rewrite of the history loses no field and moves no time", "formats 3"),
    "READ-87": ("Gemini CLI: function responses that come twice are one output of one call", "formats 3"),
    "READ-88": ("Gemini CLI: two files with one session id are one session", "formats 3"),
    "READ-89": ("Gemini CLI: the injected context is synthetic and no fork mark", "formats 3"),
    "READ-90": ("Gemini CLI: a sub-agent is linked to the call that started it", "formats 3; DESIGN 5"),
    "READ-91": ("Gemini CLI: file edits are patches", "formats 4"),
    "READ-92": ("Gemini CLI: a hashed project folder is resolved by proof, never guessed", "formats 3"),
    "READ-93": ("Gemini CLI: one id for two types gives two messages", "formats 3"),
    "READ-94": ("Gemini CLI: a state snapshot is a compaction that supersedes what went before", "formats 3"),
    "READ-95": ("Gemini CLI: rewound messages are kept and marked", "formats 3; DESIGN 5"),
    "READ-96": ("Gemini CLI: notices are system messages, unknown types are kept", "DESIGN 5"),
    "READ-97": ("Gemini CLI: files named in a prompt are told apart from it", "DESIGN 4"),
    "READ-98": ("Gemini CLI: a vanished file takes nothing back", "formats 0.2, 3"),
    "READ-99": ("Gemini CLI: only sessions with a changed file are read again", "DESIGN 5"),
    "READ-100": ("Gemini CLI: GEMINI_CLI_HOME replaces the home folder", "formats 3"),
    "READ-101": ("Gemini CLI: damage costs the damaged line only and is listed", "issue 2 Readers"),
    "READ-105": ("Aider: each start line begins a session, with model, version and local time", "issue 2; formats 5"),
    "READ-106": ("Aider: prompts, answers and the client's words are told apart", "formats 5"),
    "READ-107": ("Aider: tokens, edits and commits belong to their answer", "formats 5"),
    "READ-108": ("Aider: histories are found without knowing the projects", "issue 2 Readers"),
    "READ-109": ("Aider: ids are stable while the file grows; foreign files give nothing", "DESIGN 5"),
    "READ-111": ("Pi: branches beside the path to the last entry are kept and marked", "formats 5"),
    "READ-112": ("Pi: a compaction supersedes what it no longer keeps", "formats 5"),
    "READ-113": ("Pi: answers have usage, cost, thinking and tools with results", "formats 5"),
    "READ-114": ("Pi: a fork names its parent, its point and what it copied", "formats 5; DESIGN 5"),
    "READ-115": ("Pi: old versions, unknown entries, cycles and missing parents are read", "issue 2 Readers"),
    "READ-117": ("Copilot CLI: both layouts, a session in both counts once", "formats 5"),
    "READ-118": ("Copilot CLI: tools get their results", "formats 5"),
    "READ-119": ("Copilot CLI: usage as exact as it was written", "formats 5"),
    "READ-120": ("Copilot CLI: compactions supersede, rewinds revert", "DESIGN 5"),
    "READ-122": ("Cline: what people said is told apart from what the client added", "formats 5"),
    "READ-123": ("Cline: every billed request is counted once", "formats 5"),
    "READ-124": ("Cline: tool calls get their results, summaries supersede", "formats 5"),
    "READ-125": ("Cline: tasks are found in every editor on every system", "formats 5"),
    "READ-126": ("Cline: a missing or broken document costs that document", "DESIGN 5"),
}
STORE: dict[str, tuple[str, str]] = {
    "STORE-1": ("A delta comes back as it went in", "DESIGN 4"),
    "STORE-2": ("Applying the same delta twice changes nothing", "DESIGN 5"),
    "STORE-3": ("Usage once per model answer, in pieces or not", "DESIGN 5"),
    "STORE-4": ("Late tool results join their call", "DESIGN 18"),
    "STORE-5": ("Nothing known is overwritten by its absence", "formats 0.2"),
    "STORE-6": ("The newer store of a client wins, by session id", "DESIGN 5"),
    "STORE-7": ("Order is seq; pages lose nothing", "DESIGN 4"),
    "STORE-8": ("Namespaces are isolated", "DESIGN 15"),
    "STORE-9": ("Words, phrases, prefixes, exclusion", "DESIGN 6"),
    "STORE-10": ("Qualifiers limit documents and sessions", "DESIGN 6"),
    "STORE-11": ("Titles are found", "DESIGN 6"),
    "STORE-12": ("Forks do not count or show inherited messages twice", "DESIGN 5"),
    "STORE-13": ("Reverted messages are told apart", "issue 2"),
    "STORE-14": ("A killed scan continues: cursor and records move together", "issue 2"),
    "STORE-15": ("Substring search in the background or by bounded scan", "DESIGN 6"),
    "STORE-16": ("Lists page with stable cursors", "DESIGN 18"),
    "STORE-17": ("Vectors of two models are never compared", "DESIGN 6"),
    "STORE-18": ("Derived data can be rebuilt", "style guide 16"),
    "STORE-19": ("Threads read and write at once", "DESIGN 3"),
    "STORE-20": ("No text or JSON is lost", "style guide 14"),
    "STORE-21": ("Several processes on one database, no lock error", "DESIGN 5"),
    "STORE-22": ("A damaged database is named with what to do", "DESIGN 16"),
    "STORE-23": ("A newer database is refused unchanged", "DESIGN 16"),
    "STORE-24": ("Tokeniser version in the database", "retrieval 4"),
    "STORE-25": ("History is private to its owner", "DESIGN 15"),
}
INGEST: dict[str, tuple[str, str]] = {
    "INGEST-1": ("Forks are recognised by shared messages, with their point", "formats 1"),
    "INGEST-2": ("One bad place or record costs only itself", "DESIGN 5"),
    "INGEST-3": ("A killed scan goes on where it stopped, nothing twice", "issue 2"),
    "INGEST-4": ("What a client deletes stays, marked", "DESIGN 5"),
    "INGEST-5": ("One process scans at a time, others go on", "DESIGN 5"),
    "INGEST-6": ("Damage is listed once with file, position, reason", "DESIGN 18"),
    "INGEST-7": ("History of a vanished client stays", "DESIGN 5"),
    "INGEST-8": ("Unknown names are answered with the known ones", "DESIGN 16"),
}
SESSIONS: dict[str, tuple[str, str]] = {}
SEARCH: dict[str, tuple[str, str]] = {}
TOOLS: dict[str, tuple[str, str]] = {
    "TOOL-1": ("Tools have the names, parameters and defaults of the specification", "opencode-session-history; DESIGN 11"),
    "TOOL-2": ("The catalogue stays under 12 KB, annotated, with plain schemas", "DESIGN 11; mcp 6"),
    "TOOL-3": ("Answers carry the specification's fields and follow their output schema", "issue 2 MCP tools"),
    "TOOL-4": ("Paging brings every item once", "DESIGN 18"),
    "TOOL-5": ("No answer passes 48 KiB, 1,900 lines or the cap asked for", "DESIGN 11; opencode 5"),
    "TOOL-6": ("What was cut is named and fetched whole by id", "DESIGN 11"),
    "TOOL-7": ("Errors say what to do next; nothing escapes the dispatcher", "DESIGN 11; mcp 6"),
    "TOOL-8": ("Ids are accepted as unique beginnings", "DESIGN 4"),
    "TOOL-9": ("Answers about current name the session and the rule", "DESIGN 8, 18"),
    "TOOL-10": ("History tells inherited, synthetic, reverted, superseded and compacted apart and quotes it", "DESIGN 18"),
    "TOOL-11": ("The rules for the calling session hold in their order", "DESIGN 8"),
    "TOOL-12": ("Recovered context keeps its token budget, each item with its id", "issue 2 MCP tools"),
    "TOOL-13": ("stdio: both eras, pure protocol on stdout, ends with stdin", "mcp 8; DESIGN 11"),
    "TOOL-14": ("HTTP: both eras, Host and Origin guard, body limit, problem JSON", "DESIGN 12"),
    "TOOL-15": ("An address beyond loopback is refused before the socket opens", "DESIGN 12, 18"),
    "TOOL-16": ("Sessions are resources and two prompts embed recalled text", "issue 2 MCP tools"),
    "TOOL-17": ("Toolsets, read-only and scopes choose the tools", "DESIGN 11"),
    "TOOL-18": ("Search hits open at their place; dates as people write them", "DESIGN 6, 18"),
}
CLI: dict[str, tuple[str, str]] = {
    "CLI-1": ("Settings: flag over environment over file over default, each with its origin", "DESIGN 14"),
    "CLI-2": ("Data lives in one folder that OVILLO_DATA_DIR moves", "DESIGN 13"),
    "CLI-3": ("A bad setting is refused with its name, value and what is allowed", "DESIGN 14, 16"),
    "CLI-4": ("Secrets among the settings are masked wherever they are shown", "DESIGN 14"),
    "CLI-5": ("The names of the specifications are accepted too", "DESIGN 14"),
}
SECURITY: dict[str, tuple[str, str]] = {
    "SEC-1": ("Secrets of the usual kinds are masked before storing, in en, es, fr, pt", "DESIGN 15; issue 2 Ingest"),
    "SEC-2": ("Hashes, ids, images and placeholders are not taken for secrets", "platform.md 4"),
    "SEC-3": ("A marker names the kind and a keyed fingerprint: the same secret stays recognisable", "platform.md 4"),
    "SEC-4": ("Redaction never raises, is idempotent, and hands clean text back unchanged", "platform.md 4"),
    "SEC-5": ("Every text of a record is redacted: prompts, tool input and output, diffs, errors, titles", "DESIGN 15"),
    "SEC-6": ("Redaction can be switched off", "platform.md 4"),
}
PROJECT: dict[str, tuple[str, str]] = {
    "PROJ-1": ("A machine without agents gets a demo history that the ordinary readers read", "issue 2 Project"),
    "PROJ-2": ("Every setting, tool and command appears in the reference pages", "style guide 32"),
    "PROJ-3": ("The first run says honestly what it serves and what to do next", "issue 2 Project"),
    "PROJ-4": ("README stays under 200 lines and no source file passes 600 without a reason", "issue 2 Project"),
}

REQUIREMENTS = {
    **READERS,
    **STORE,
    **INGEST,
    **SESSIONS,
    **SEARCH,
    **TOOLS,
    **CLI,
    **SECURITY,
    **PROJECT,
}
