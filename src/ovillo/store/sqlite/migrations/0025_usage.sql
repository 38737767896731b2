-- What models were paid for, by time: today's is asked for at every prompt (``ovillo statusline``).
CREATE INDEX messages_by_use ON messages (created_at) WHERE input IS NOT NULL OR cost IS NOT NULL;
