-- A long text may stand here before the entry that needs it: a call that writes many megabytes sends them ahead, a part at a time. While
-- a row of the outbox awaits it (topic 'text', src/adapters/sql/texts/sent-ahead.ts), it does not go with the last row that needs it.

CREATE OR REPLACE FUNCTION drop_unneeded_text() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM long_texts WHERE org = OLD.org AND hash = OLD.text_hash
    AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.org = OLD.org AND e.text_hash = OLD.text_hash AND e.bytes > 16384)
    AND NOT EXISTS (SELECT 1 FROM entry_versions v WHERE v.org = OLD.org AND v.text_hash = OLD.text_hash AND v.bytes > 16384)
    AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.org = OLD.org AND o.topic = 'text' AND o.key = OLD.text_hash);
  RETURN NULL;
END $$;
