CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL, message_count INTEGER NOT NULL DEFAULT 0,
 prompt_tokens INTEGER NOT NULL DEFAULT 0, completion_tokens INTEGER NOT NULL DEFAULT 0, cost REAL NOT NULL DEFAULT 0.0,
 updated_at INTEGER NOT NULL, created_at INTEGER NOT NULL, summary_message_id TEXT, todos TEXT);
CREATE TABLE files (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, path TEXT NOT NULL, content TEXT NOT NULL,
 version INTEGER NOT NULL DEFAULT 0, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL, parts TEXT NOT NULL DEFAULT '[]',
 model TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, finished_at INTEGER, provider TEXT,
 is_summary_message INTEGER NOT NULL DEFAULT 0);
INSERT INTO sessions VALUES ('dddddddd-0000-4000-8000-000000000001', NULL, 'Cap the delay', 7, 1500, 200, 0.25, 1795082460, 1795082400, 'm-00000005', NULL);
INSERT INTO sessions VALUES ('m-00000002$$call-agent', 'dddddddd-0000-4000-8000-000000000001', 'New Agent Session', 1, 0, 0, 0, 1795082410, 1795082405, NULL, NULL);
INSERT INTO sessions VALUES ('title-dddddddd-0000-4000-8000-000000000001', 'dddddddd-0000-4000-8000-000000000001', 'Generate a title', 1, 0, 0, 0, 1795082410, 1795082401, NULL, NULL);
INSERT INTO messages VALUES ('m-00000001', 'dddddddd-0000-4000-8000-000000000001', 'user', '[{"type": "text", "data": {"text": "Plafonne le délai"}}, {"type": "binary", "data": {"Path": "a.png", "MIMEType": "image/png", "Data": "AAAA"}}, {"type": "finish", "data": {"reason": "stop", "time": 0}}]', NULL, 1795082401, 1795082401, NULL, NULL, 0);
INSERT INTO messages VALUES ('m-00000002', 'dddddddd-0000-4000-8000-000000000001', 'assistant', '[{"type": "reasoning", "data": {"thinking": "delegate"}}, {"type": "text", "data": {"text": "Je délègue."}}, {"type": "tool_call", "data": {"id": "call-agent", "name": "agent", "input": "{\"prompt\": \"find it\"}", "finished": true}}, {"type": "tool_call", "data": {"id": "call-edit", "name": "edit", "input": "{\"file_path\": \"net.py\"}", "finished": true}}, {"type": "finish", "data": {"reason": "tool_use", "time": 1795082404}}]', 'claude-sonnet-4', 1795082402, 1795082402, NULL, 'anthropic', 0);
INSERT INTO messages VALUES ('m-00000003', 'dddddddd-0000-4000-8000-000000000001', 'tool', '[{"type": "tool_result", "data": {"tool_call_id": "call-agent", "name": "agent", "content": "net.py:4", "is_error": false}}, {"type": "tool_result", "data": {"tool_call_id": "call-edit", "name": "edit", "content": "edited", "is_error": false}}]', NULL, 1795082412, 1795082412, NULL, NULL, 0);
INSERT INTO messages VALUES ('m-00000004', 'dddddddd-0000-4000-8000-000000000001', 'assistant', '[{"type": "text", "data": {"text": "C''est fait."}}, {"type": "finish", "data": {"reason": "end_turn", "time": 1795082414}}]', 'claude-sonnet-4', 1795082413, 1795082413, NULL, 'anthropic', 0);
INSERT INTO messages VALUES ('m-00000005', 'dddddddd-0000-4000-8000-000000000001', 'assistant', '[{"type": "text", "data": {"text": "Résumé: le délai est plafonné."}}, {"type": "finish", "data": {"reason": "end_turn", "time": 1795082421}}]', 'claude-sonnet-4', 1795082420, 1795082420, NULL, 'anthropic', 1);
INSERT INTO messages VALUES ('m-00000006', 'dddddddd-0000-4000-8000-000000000001', 'user', '[{"type": "shell_command", "data": {"command": "pytest", "output": "1 failed", "exit_code": 1}}]', NULL, 1795082430, 1795082430, NULL, NULL, 0);
INSERT INTO messages VALUES ('m-00000007', 'dddddddd-0000-4000-8000-000000000001', 'assistant', '[{"type": "finish", "data": {"reason": "error", "time": 1795082441, "message": "Overloaded", "details": "529"}}, {"type": "hologram", "data": {"beam": 1}}]', 'claude-sonnet-4', 1795082440, 1795082440, NULL, 'anthropic', 0);
INSERT INTO messages VALUES ('m-00000008', 'm-00000002$$call-agent', 'user', '[{"type": "text", "data": {"text": "find it"}}]', NULL, 1795082406000, 1795082406000, NULL, NULL, 0);
INSERT INTO messages VALUES ('m-00000009', 'title-dddddddd-0000-4000-8000-000000000001', 'user', '[{"type": "text", "data": {"text": "make a title"}}]', NULL, 1795082401, 1795082401, NULL, NULL, 0);
INSERT INTO files VALUES ('f0', 'dddddddd-0000-4000-8000-000000000001', '/srv/app/net.py', 'import time

def retry_delay(n):
    return 2 ** n
', 0, 1795082403, 1795082403);
INSERT INTO files VALUES ('f1', 'dddddddd-0000-4000-8000-000000000001', '/srv/app/net.py', 'import time

def retry_delay(n):
    return min(30, 2 ** n)
', 1, 1795082403, 1795082403);
