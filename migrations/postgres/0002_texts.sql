-- Long texts stand beside the rows of entries, by their hash: a database writes a row anew whatever changes of it, and history keeps
-- the hash instead of a copy. The size is named in src/domain/entry/long-text.ts; bytes are never fewer.

-- A text may stand here before the entry that needs it: a call that writes many megabytes sends them ahead, a part at a time, and while
-- a row of the outbox awaits it (topic 'text') it stays.
CREATE TABLE long_texts (
  org text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL,
  text text COLLATE "C" NOT NULL,
  PRIMARY KEY (org, hash)
);

-- It goes with the last row that needs it.
CREATE FUNCTION drop_unneeded_text() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM long_texts WHERE org = OLD.org AND hash = OLD.text_hash
    AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.org = OLD.org AND e.text_hash = OLD.text_hash AND e.bytes > 16384)
    AND NOT EXISTS (SELECT 1 FROM entry_versions v WHERE v.org = OLD.org AND v.text_hash = OLD.text_hash AND v.bytes > 16384)
    AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.org = OLD.org AND o.topic = 'text' AND o.key = OLD.text_hash);
  RETURN NULL;
END $$;

CREATE TRIGGER long_texts_replaced AFTER UPDATE OF text_hash ON entries FOR EACH ROW
  WHEN (OLD.bytes > 16384 AND OLD.text_hash <> NEW.text_hash) EXECUTE FUNCTION drop_unneeded_text();

CREATE TRIGGER long_texts_deleted AFTER DELETE ON entries FOR EACH ROW
  WHEN (OLD.bytes > 16384) EXECUTE FUNCTION drop_unneeded_text();

-- How long a long text is and where its lines stand (src/domain/reading/marks.ts). A row counts only for the text it was made from;
-- entries without one are short.
CREATE TABLE text_marks (
  entry_id bigint PRIMARY KEY,
  text_hash text COLLATE "C" NOT NULL,
  chars integer NOT NULL,
  lines integer NOT NULL,
  starts text NOT NULL -- JSON list
);

CREATE FUNCTION marks_deleted() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM text_marks WHERE entry_id = OLD.id;
  RETURN NULL;
END $$;

CREATE TRIGGER marks_deleted AFTER DELETE ON entries FOR EACH ROW EXECUTE FUNCTION marks_deleted();
