PRAGMA journal_mode = WAL;
CREATE TABLE schema_version (version INTEGER PRIMARY KEY);
INSERT INTO schema_version VALUES (5);
CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', description TEXT NOT NULL DEFAULT '',
 user_set_name BOOLEAN DEFAULT FALSE, session_type TEXT NOT NULL DEFAULT 'user', working_dir TEXT NOT NULL,
 created_at TIMESTAMP, updated_at TIMESTAMP, extension_data TEXT DEFAULT '{}', total_tokens INTEGER,
 input_tokens INTEGER, output_tokens INTEGER, accumulated_total_tokens INTEGER, accumulated_input_tokens INTEGER,
 accumulated_output_tokens INTEGER, schedule_id TEXT, recipe_json TEXT, user_recipe_values_json TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL,
 content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, timestamp TIMESTAMP, tokens INTEGER, metadata_json TEXT);
INSERT INTO sessions VALUES ('20261119_1', 'Explain retry_delay', '', 0, 'user', '/srv/app', '2026-11-19 10:00:00',
 '2026-11-19 10:00:07', '{}', 900, 800, 100, 2000, 1700, 300, NULL, NULL, NULL);
INSERT INTO sessions VALUES ('20261119_2', '', 'Sub task', 0, 'sub_agent', '/srv/app', '2026-11-19 10:00:08',
 '2026-11-19 10:00:08', '{}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO messages VALUES (1, '20261119_1', 'user', '[{"type": "text", "text": "What does retry_delay do?"}]', 1795082401, NULL, NULL, '{"userVisible": true, "agentVisible": false}');
INSERT INTO messages VALUES (2, '20261119_1', 'assistant', '[{"type": "thinking", "thinking": "look first", "signature": ""}, {"type": "text", "text": "Reading."}, {"type": "toolRequest", "id": "r1", "toolCall": {"status": "success", "value": {"name": "developer__shell", "arguments": {"command": "cat net.py"}}}}]', 1795082402, NULL, NULL, '{"userVisible": true, "agentVisible": false}');
INSERT INTO messages VALUES (3, '20261119_1', 'user', '[{"type": "toolResponse", "id": "r1", "toolResult": {"status": "success", "value": {"content": [{"type": "text", "text": "def retry_delay"}], "isError": false}}}]', 1795082403, NULL, NULL, '{"userVisible": true, "agentVisible": false}');
INSERT INTO messages VALUES (4, '20261119_1', 'assistant', '[{"type": "text", "text": "It doubles the wait."}]', 1795082404, NULL, NULL, '{"userVisible": true, "agentVisible": false}');
INSERT INTO messages VALUES (5, '20261119_1', 'assistant', '[{"type": "text", "text": "Summary: retry_delay doubles the wait."}]', 1795082405, NULL, NULL, '{"userVisible": false, "agentVisible": true}');
INSERT INTO messages VALUES (6, '20261119_1', 'user', '[{"type": "text", "text": "Cap it"}]', 1795082406, NULL, NULL, NULL);
INSERT INTO messages VALUES (7, '20261119_1', 'assistant', '[{"type": "toolRequest", "id": "r2", "toolCall": {"status": "error", "error": "no such tool"}}, {"type": "hologram", "beam": 1}]', 1795082407, NULL, NULL, NULL);
INSERT INTO messages VALUES (8, '20261119_2', 'user', '[{"type": "text", "text": "a sub-agent''s task"}]', 1795082408, NULL, NULL, NULL);
INSERT INTO messages VALUES (9, '20261119_2', 'assistant', 'not json', 1795082409, NULL, NULL, NULL);
