"""``WS /ws``: append, delta and live changes on one socket (SPEC-015, section 4.7)."""
