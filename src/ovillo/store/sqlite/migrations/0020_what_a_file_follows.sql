-- The record of another file that a session's file goes on behind, so that this file is known as the session's when it turns up later.

ALTER TABLE session_files ADD COLUMN follows TEXT;
