-- Long texts stand beside the rows of entries, by their hash: a row is written anew with all that is in it whatever changes of
-- it, and history keeps the hash instead of a copy. The size is named in src/domain/long-text.ts; bytes are never fewer.

CREATE TABLE long_texts (
  org TEXT NOT NULL,
  hash TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (org, hash)
);

-- Who needs a long text.
CREATE INDEX entries_by_long_text ON entries (org, text_hash) WHERE bytes > 16384;

CREATE INDEX versions_by_long_text ON entry_versions (org, text_hash) WHERE bytes > 16384;

-- It goes with the last row that needs it.
CREATE TRIGGER long_texts_replaced AFTER UPDATE OF text_hash ON entries WHEN OLD.bytes > 16384 AND OLD.text_hash <> NEW.text_hash
BEGIN
  DELETE FROM long_texts WHERE org = OLD.org AND hash = OLD.text_hash
    AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.org = OLD.org AND e.text_hash = OLD.text_hash AND e.bytes > 16384)
    AND NOT EXISTS (SELECT 1 FROM entry_versions v WHERE v.org = OLD.org AND v.text_hash = OLD.text_hash AND v.bytes > 16384);
END;

CREATE TRIGGER long_texts_deleted AFTER DELETE ON entries WHEN OLD.bytes > 16384
BEGIN
  DELETE FROM long_texts WHERE org = OLD.org AND hash = OLD.text_hash
    AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.org = OLD.org AND e.text_hash = OLD.text_hash AND e.bytes > 16384)
    AND NOT EXISTS (SELECT 1 FROM entry_versions v WHERE v.org = OLD.org AND v.text_hash = OLD.text_hash AND v.bytes > 16384);
END;

CREATE TRIGGER long_texts_forgotten AFTER DELETE ON entry_versions WHEN OLD.bytes > 16384
BEGIN
  DELETE FROM long_texts WHERE org = OLD.org AND hash = OLD.text_hash
    AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.org = OLD.org AND e.text_hash = OLD.text_hash AND e.bytes > 16384)
    AND NOT EXISTS (SELECT 1 FROM entry_versions v WHERE v.org = OLD.org AND v.text_hash = OLD.text_hash AND v.bytes > 16384);
END;
