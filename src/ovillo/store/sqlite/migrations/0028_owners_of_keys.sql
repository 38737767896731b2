-- Whose personal memories a key reads: a name may be given to several. Keys that were made before go on with what was kept under
-- their name, where no other key that is good has it; of several the oldest does.

ALTER TABLE access_keys ADD COLUMN owner TEXT NOT NULL DEFAULT '';

UPDATE access_keys SET owner = CASE WHEN EXISTS (
    SELECT 1 FROM access_keys o WHERE o.namespace_key = access_keys.namespace_key AND o.name = access_keys.name
    AND o.revoked_at IS NULL AND (o.expires_at IS NULL OR o.expires_at > 1000 * unixepoch())
    AND (o.created_at, o.id) < (access_keys.created_at, access_keys.id)
) THEN name || ' ' || id ELSE name END;
