-- A long text may stand here before the entry that needs it: a call that writes many megabytes sends them ahead, a part at a time. While
-- a row of the outbox awaits it (topic 'text', src/adapters/sql/texts/sent-ahead.ts), it does not go with the last row that needs it.

DROP TRIGGER long_texts_replaced;

DROP TRIGGER long_texts_deleted;

DROP TRIGGER long_texts_forgotten;

CREATE TRIGGER long_texts_replaced AFTER UPDATE OF text_hash ON entries WHEN OLD.bytes > 16384 AND OLD.text_hash <> NEW.text_hash
BEGIN
  DELETE FROM long_texts WHERE org = OLD.org AND hash = OLD.text_hash
    AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.org = OLD.org AND e.text_hash = OLD.text_hash AND e.bytes > 16384)
    AND NOT EXISTS (SELECT 1 FROM entry_versions v WHERE v.org = OLD.org AND v.text_hash = OLD.text_hash AND v.bytes > 16384)
    AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.org = OLD.org AND o.topic = 'text' AND o.key = OLD.text_hash);
END;

CREATE TRIGGER long_texts_deleted AFTER DELETE ON entries WHEN OLD.bytes > 16384
BEGIN
  DELETE FROM long_texts WHERE org = OLD.org AND hash = OLD.text_hash
    AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.org = OLD.org AND e.text_hash = OLD.text_hash AND e.bytes > 16384)
    AND NOT EXISTS (SELECT 1 FROM entry_versions v WHERE v.org = OLD.org AND v.text_hash = OLD.text_hash AND v.bytes > 16384)
    AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.org = OLD.org AND o.topic = 'text' AND o.key = OLD.text_hash);
END;

CREATE TRIGGER long_texts_forgotten AFTER DELETE ON entry_versions WHEN OLD.bytes > 16384
BEGIN
  DELETE FROM long_texts WHERE org = OLD.org AND hash = OLD.text_hash
    AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.org = OLD.org AND e.text_hash = OLD.text_hash AND e.bytes > 16384)
    AND NOT EXISTS (SELECT 1 FROM entry_versions v WHERE v.org = OLD.org AND v.text_hash = OLD.text_hash AND v.bytes > 16384)
    AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.org = OLD.org AND o.topic = 'text' AND o.key = OLD.text_hash);
END;
