"""How every tool and every command is asked for what was planted. A new one has to be added here, or its test fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.security.planting import CHILD, EPISODE, HOSTILE, PLAIN, PRINTABLE, SECOND, WAITS

Arguments = Mapping[str, Any]

#: Tool -> calls of it. ``CODE`` and ``TASK`` stand for the planted folder and a task that runs.
CODE, TASK = object(), object()
TOOLS: dict[str, list[Arguments]] = {
    "context_retrieve": [
        {"key": PRINTABLE},
        {"key": PRINTABLE, "namespace": PRINTABLE},
        {"key": "nothing"},
        {"key": "nothing", "namespace": "nowhere"},
    ],
    "context_store": [{"key": PRINTABLE, "value": {HOSTILE: HOSTILE}, "namespace": PRINTABLE}],
    "context_switch": [{"target_context": PRINTABLE}, {"target_context": "default"}],
    "export_session": [
        {"session_id": PLAIN, "format": "markdown"},
        *({"session_id": SECOND, "format": each, "max_tokens": 20_000} for each in ("json", "jsonl", "html", "pdf")),
    ],
    "find_symbol": [{"query": "pay"}, {"query": "charge"}, {"query": HOSTILE}],
    "get_context": [
        {"query": "what does that function do?", "session_id": PLAIN},
        {"query": "validate_card pay.py", "session_id": SECOND},
        {"query": "how does pay_plain work"},
        {"query": "When does the ferry to Larne leave?"},
        {"query": "is there a pending bug about validate_card?"},
        {"query": "validate_card", "top_k": 5, "min_score": 0.1},
        {"query": "validate_card", "use_toon": False},
        # With so little room a piece is shown in part, whichever its place in the quote.
        *({"query": "validate_card pay.py", "max_tokens": room} for room in range(100, 700, 60)),
        *({"query": "how does pay_plain work", "max_tokens": room} for room in range(100, 700, 60)),
    ],
    "get_session_history": [
        {"sessionID": PLAIN, "max_tokens": 20_000},
        {"sessionID": SECOND, "response_format": "detailed", "max_tokens": 20_000},
        {"sessionID": SECOND, "newest": True},
        {"sessionID": PLAIN, "messageID": "msg_1", "max_tokens": 500},
        {"sessionID": PLAIN, "partID": "msg_1-p2", "max_tokens": 500},
    ],
    "get_session_lineage": [{"sessionID": each, "response_format": "detailed"} for each in (PLAIN, SECOND, CHILD)],
    "get_session_stats": [{"sessionID": each, "response_format": "detailed"} for each in (PLAIN, SECOND)],
    "import_session": [
        {"data": {"version": "1.0", "session": {"name": HOSTILE, "messages": [{"role": "user", "content": HOSTILE}]}}}
    ],
    "index_code": [{"path": CODE}],
    "index_codebase": [{"path": CODE}],
    "link_sessions": [
        {"from": PLAIN, "action": "list"},
        {"from": SECOND, "to": CHILD, "relationship": "continues", "shared_entities": [PRINTABLE], "note": HOSTILE},
        {"from": PLAIN, "action": "propose"},
        {"from": PLAIN, "to": CHILD, "action": "dismiss"},
    ],
    "list_sessions": [{}, {"response_format": "detailed"}, {"sessionName": HOSTILE, "projectID": HOSTILE}],
    "llm_punch_in": [{"llm_name": PRINTABLE, "task_description": HOSTILE, "context": HOSTILE}],
    "llm_punch_out": [{"task_id": TASK, "summary": HOSTILE}],
    "manage_session": [
        {"action": "create", "session_id": "own4"},
        {"action": "add_turn", "session_id": "own4", "content": HOSTILE},
        {"action": "get_history", "session_id": "own4"},
        {"action": "get_history", "session_id": PLAIN},
    ],
    "memory_optimize": [{}, {"target_session": PLAIN}],
    "recover_context": [{"sessionID": each, "max_tokens": 8_000} for each in (PLAIN, SECOND)],
    "search_sessions": [
        {"query": "validate_card"},
        {"query": "zqx", "response_format": "detailed"},
        {"query": f'"{HOSTILE}"', "agent": HOSTILE},
    ],
    "session_append": [{"session_id": "own", "role": "user", "content": HOSTILE, "idempotency_key": HOSTILE[:200]}],
    "session_create": [{"name": HOSTILE, "metadata": {HOSTILE: HOSTILE}, "working_directory": HOSTILE}],
    "session_restore": [
        {"session_id": PLAIN},
        {"session_id": PLAIN, "version": 1, "path": "/nothing"},
        {"session_id": PLAIN, "path": "/more"},
    ],
    "session_save": [{"session_id": PLAIN, "content": {HOSTILE: HOSTILE}}],
    "session_summarize": [{"session_id": "own"}],
    "system_status": [{"include_sessions": True, "include_metrics": True}],
    "where_discussed": [{"entity": "validate_card"}, {"entity": "src/pay.py"}, {"entity": HOSTILE}],
}
TOOLS |= {
    "remember": [{"text": HOSTILE}, {"text": "zqx is so", "kind": PRINTABLE, "key": PRINTABLE, "source": HOSTILE}],
    "retrieve_relevant_context": [{"tool_name": HOSTILE, "args": {HOSTILE: HOSTILE}}],
    "recall": [{"query": "zqx"}, {"query": HOSTILE, "kind": HOSTILE}],
    "short_term_store": [{"key": PRINTABLE, "value": {HOSTILE: HOSTILE}}],
    "short_term_retrieve": [{"key": PRINTABLE}, {"key": "nothing"}],
    "short_term_forget": [{"key": "nothing"}, {"key": PRINTABLE}],
    "working_focus": [{"item": HOSTILE}],
    "working_get_focus": [{}],
    "working_add": [{"item": {HOSTILE: HOSTILE}}],
    "working_get": [{}],
    "episode_record": [{"summary": HOSTILE, "content": HOSTILE, "tags": [PRINTABLE], "source": HOSTILE}],
    "episode_get": [{"id": EPISODE}, {"id": HOSTILE}],
    "episode_search": [{"query": "zqx"}, {}],
    "episode_summarize": [{"ids": [EPISODE]}],
    "knowledge_store": [
        {"key": PRINTABLE, "knowledge": {HOSTILE: HOSTILE}, "text": HOSTILE, "kind": PRINTABLE, "source": HOSTILE},
        {"key": PRINTABLE, "knowledge": HOSTILE, "said_by": "web"},
    ],
    "knowledge_get": [{"key": PRINTABLE}, {"key": "nothing"}],
    "knowledge_query": [{"query": "zqx"}, {}],
    "knowledge_update": [{"key": PRINTABLE, "knowledge": HOSTILE, "reason": HOSTILE, "source": HOSTILE}],
    "procedure_learn": [
        {
            "name": PRINTABLE,
            "steps": [{"id": PRINTABLE, "action": PRINTABLE, "description": HOSTILE, "parameters": HOSTILE}],
        }
    ],
    "procedure_execute": [{"name": "planted", "dry_run": True}, {"name": "planted"}, {"run_id": HOSTILE}],
    "procedure_list": [{}],
    "store_incident": [
        {"symptoms": [HOSTILE], "incidentId": PRINTABLE, "resolution": HOSTILE, "tags": [PRINTABLE]},
        {"symptoms": ["x"], "incidentId": HOSTILE},
    ],
    "store_conversation": [{"userMessage": HOSTILE, "assistantResponse": HOSTILE, "sessionId": PRINTABLE}],
    "store_tool_exec": [{"tool": "zqx", "result": HOSTILE, "arguments": {"a": HOSTILE}}],
    "procedure_update": [{"name": "planted", "steps": [{"id": "a", "action": PRINTABLE, "parameters": HOSTILE}]}],
}
#: Tools whose answers must hold planted text, or nothing was tried.
RECALLING = (
    set(TOOLS)
    - {"memory_optimize", "session_append", "session_create", "import_session", "session_save"}
    - {"llm_punch_in"}
    - {"retrieve_relevant_context"}
    - {"working_add", "episode_record", "procedure_update"}
    - {"store_tool_exec"}
)

#: Command -> argument lists. ``{code}`` stands for the planted folder, ``{file}`` for a hostile export, ``{out}`` for a folder.
#: Servers answer elsewhere; what they print themselves is an address.
COMMANDS: dict[str, list[list[str]]] = {
    "scan": [[]],
    "sources": [[]],
    "search": [["validate_card"], ["zqx"], [HOSTILE]],
    "resume": [[PLAIN, "--print"], ["ses_second", "--print"], [HOSTILE], []],
    "handoff": [[PLAIN, "--to", HOSTILE], ["zqx", "--to", "codex"], [PLAIN, "--to", "codex", "--print"]],
    "session list": [[], ["--json"], [HOSTILE]],
    "session show": [[PLAIN], [PLAIN, "--json"], ["ses_", HOSTILE], ["ses_second", "--full"], ["ses_"]],
    "session search": [["zqx"]],
    "session lineage": [[PLAIN], ["ses_second"], ["ses_child"]],
    "session stats": [[PLAIN], ["ses_second"]],
    "session export": [
        *([PLAIN, "--format", form, "--output", "-"] for form in ("json", "jsonl", "md", "html")),
        [PLAIN, "--format", "pdf", "--output", "{out}"],
        ["ses_second", "--output", "{out}", "--force"],
        ["ses_second", "--output", f"{{out}}/{PRINTABLE[:10]}\x1b]0;x\x07.zqx\n/x"],
    ],
    "session import": [["{file}"], ["{code}/broken zqx\nzqx.py"], [f"nowhere {PRINTABLE}\n\x1b]0;zqx\x07"]],
    "session create": [[PRINTABLE], [HOSTILE]],
    "session append": [["own", HOSTILE], [PLAIN, HOSTILE]],
    "session update": [["own", "--name", HOSTILE], ["ses_second", "--name", HOSTILE]],
    "session delete": [["ses_second", "--yes"], ["own2", "--yes"], ["own3"]],
    "session prune": [["--older-than", "1", "--mirrored"]],
    "session summarize": [["own"]],
    "session save": [[PLAIN, "{file}"], [PLAIN, f"no {PRINTABLE}\n\x1b[2J"]],
    "session restore": [
        [PLAIN],
        [PLAIN, "--version", "99"],
        [PLAIN, "--version", "1", "--output", "{out}/r\x1b[2J.json"],
    ],
    "session snapshots": [[PLAIN]],
    "session diff": [[PLAIN, "1", "2"]],
    "session link": [[PLAIN], [PLAIN, "ses_child"], ["ses_second", "--propose"], ["Fix zqx"], ["ses_"], ["zqx"]],
    "session recover": [[PLAIN], ["ses_second"]],
    "entity list": [[]],
    "entity show": [[PLAIN], ["zqx"]],
    "entity where": [["validate_card"], [HOSTILE]],
    "context": [["how", "does", "pay_plain", "work"], ["When does the ferry to Larne leave?"]],
    "resolve": [["what does that function do", "--session", PLAIN], ["x", "--session", "zqx"]],
    "code show": [["pay_plain"], ["zqx"]],
    "code callers": [["pay_plain"]],
    "code graph": [[], ["--svg"], ["--json"]],
    "code export": [["--output", "{out}/e\x1b[2J"]],
    "code find": [["pay_plain"], ["pay*"], ["refund a payment"], [HOSTILE]],
    "code index": [["{code}"], ["{code}", "--progress"], [f"no {PRINTABLE}\n\x1b[2J"]],
    "code roots": [[]],
    "knowledge add": [["{code}"], [f"no {PRINTABLE}\n\x1b[2J"]],
    "knowledge export-mp4": [["{out}/k\x1b[2J.mp4"]],
    "knowledge import-mp4": [["{file}"]],
    "knowledge list": [[]],
    "knowledge remove": [["{code}/go.md"], [HOSTILE]],
    "migrate continuity": [["{old}", "--no-backup"], [f"no {PRINTABLE}\n\x1b[2J"]],
    **{
        f"migrate {system}": [["{old}", "--no-backup"], [f"no {PRINTABLE}\n\x1b[2J"]]
        for system in ("basic-memory", "claude-code", "claude-mem", "mcp-memory-service", "mcp-ocs")
    },
    "migrate mcp-ocs-files": [["{old}", "--dry-run"], [f"no {PRINTABLE}\n\x1b[2J"]],
    "migrate chroma": [["--collection", HOSTILE], ["{old}"]],
    "migrate mcp-hub": [["{old}", "--dry-run"], ["{old}", "--no-backup"], [f"no {PRINTABLE}\n\x1b[2J"]],
    "knowledge search": [["When does the ferry to Larne leave?"], [HOSTILE]],
    "usage": [
        ["--by", "session"],
        ["--by", "project", "--by", "model", "--by", "branch", "--csv"],
        ["--model", HOSTILE],
        ["--project", HOSTILE],
        ["--session", HOSTILE],
    ],
    "statusline": [[]],
    "time in": [[PRINTABLE, HOSTILE]],
    "time open": [[]],
    "time out": [["{task}", HOSTILE], [HOSTILE, HOSTILE]],
    "time report": [[], ["--since", HOSTILE]],
    "open": [[HOSTILE], ["/docs", "--print", "--port", "1"]],
    "forget session": [[PLAIN], [SECOND, "--dry-run"], [HOSTILE]],
    "forget project": [[HOSTILE]],
    "forget source": [["claude_code"], [HOSTILE]],
    "forget excluded": [[]],
    "forget list": [[]],
    "forget undo": [[HOSTILE]],
    "backup": [["/nowhere/backup.db"]],
    "restore": [["/nowhere/backup.db", "--yes"]],
    "audit list": [[]],
    "audit verify": [[], ["--head", HOSTILE]],
    "mcp": [],
    "serve": [],
    "key create": [["--name", PRINTABLE[:60]], ["--name", HOSTILE], ["--name", "k", "--expires", HOSTILE]],
    "key list": [[]],
    "key token": [[]],
    "key revoke": [[HOSTILE]],
    "key rotate": [[HOSTILE]],
    "embed": [[]],
    "memory remember": [[HOSTILE], ["zqx is so", "--kind", PRINTABLE, "--key", PRINTABLE]],
    "memory recall": [["zqx"], [HOSTILE]],
    "memory promote": [[], [PLAIN], [HOSTILE]],
    "memory review list": [[]],
    "memory review accept": [[WAITS], [HOSTILE]],
    "memory review edit": [[WAITS, HOSTILE], [HOSTILE, HOSTILE]],
    "memory review reject": [[WAITS, "--reason", HOSTILE], [HOSTILE]],
    "memory review undo": [[WAITS], [HOSTILE]],
    "memory context": [["zqx", "--args", '{"command": "zqx"}'], [HOSTILE], ["--hook"]],
    "memory export": [["--output", "-"], ["--output", "{out}/m\x1b[2J.md"]],
    "memory import": [["{file}"], [f"no {PRINTABLE}\n\x1b[2J"]],
    "memory list": [[], ["--tag", HOSTILE]],
    "memory show": [[EPISODE], [HOSTILE]],
    "memory forget": [["--source", HOSTILE], [HOSTILE]],
    "memory short-term store": [[PRINTABLE, HOSTILE]],
    "memory short-term retrieve": [[PRINTABLE]],
    "memory short-term forget": [[PRINTABLE], [HOSTILE]],
    "memory working focus": [[HOSTILE]],
    "memory working get-focus": [[]],
    "memory working add": [[HOSTILE]],
    "memory working get": [[]],
    "memory episode record": [[HOSTILE, "--tag", PRINTABLE, "--source", HOSTILE]],
    "memory episode get": [[EPISODE], [HOSTILE]],
    "memory episode search": [["zqx"], []],
    "memory episode summarize": [[EPISODE], [HOSTILE]],
    "memory incident": [
        [HOSTILE, "--incident-id", PRINTABLE, "--resolution", HOSTILE, "--tag", PRINTABLE],
        ["x", "--incident-id", HOSTILE],
    ],
    "memory conversation": [[HOSTILE, HOSTILE, "--session-id", PRINTABLE, "--domain", PRINTABLE]],
    "memory tool-run": [["zqx", "--result", HOSTILE, "--arguments", HOSTILE], [HOSTILE]],
    "memory fact store": [[PRINTABLE, HOSTILE, "--kind", PRINTABLE]],
    "memory fact get": [[PRINTABLE], [HOSTILE]],
    "memory fact query": [["zqx"], []],
    "memory fact update": [[PRINTABLE, HOSTILE, "--reason", HOSTILE]],
    "memory procedure learn": [["p", "--steps", HOSTILE], [HOSTILE, "--steps", "[]"]],
    "memory procedure execute": [["planted", "--dry-run"], ["planted"], [HOSTILE]],
    "memory procedure list": [[]],
    "memory procedure update": [["planted", "--steps", HOSTILE]],
    "memory optimize": [[], ["--session", HOSTILE]],
    "status": [["--sessions", "--metrics"]],
    "doctor": [[]],
    "config show": [[], ["--config", HOSTILE.replace("\x00", "")]],
    "completion": [["bash"], [HOSTILE]],
}
