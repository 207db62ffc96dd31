-- Long texts stand beside the rows of entries, by their hash: a database writes a row anew whatever changes of it, and history keeps
-- the hash instead of a copy. The size is named in src/domain/entry/long-text.ts; bytes are never fewer.

-- A text may stand here before the entry that needs it: a call that writes many megabytes sends them ahead, a part at a time, and while
-- a row of the outbox awaits it (topic 'text') it stays.
CREATE TABLE long_texts (
  org TEXT NOT NULL,
  hash TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (org, hash)
);

-- It goes with the last row that needs it.
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

-- Whoever shows or ranks a text looks at its first 60,000 characters, and SQLite reads all of a text to cut them: so the beginning of a
-- text of more than 100,000 stands by itself. Both numbers are named in src/domain/entry/long-text.ts.
CREATE TABLE text_beginnings (
  org TEXT NOT NULL,
  hash TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (org, hash)
);

CREATE TRIGGER beginnings_kept AFTER INSERT ON long_texts WHEN length(NEW.text) > 100000
BEGIN
  INSERT INTO text_beginnings (org, hash, text) VALUES (NEW.org, NEW.hash, substr(NEW.text, 1, 60000)) ON CONFLICT (org, hash) DO NOTHING;
END;

CREATE TRIGGER beginnings_dropped AFTER DELETE ON long_texts
BEGIN
  DELETE FROM text_beginnings WHERE org = OLD.org AND hash = OLD.hash;
END;

-- How long a long text is and where its lines stand (src/domain/reading/marks.ts). A row counts only for the text it was made from;
-- entries without one are short.
CREATE TABLE text_marks (
  entry_id INTEGER PRIMARY KEY,
  text_hash TEXT NOT NULL,
  chars INTEGER NOT NULL,
  lines INTEGER NOT NULL,
  starts TEXT NOT NULL -- JSON list
);

CREATE TRIGGER marks_deleted AFTER DELETE ON entries
BEGIN
  DELETE FROM text_marks WHERE entry_id = OLD.id;
END;
