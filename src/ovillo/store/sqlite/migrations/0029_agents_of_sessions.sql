-- Which agents a session has, without its messages: a list of sessions asks for each of them. Messages of most clients name none.
CREATE INDEX messages_by_agent ON messages (session_key, agent) WHERE agent IS NOT NULL;
