-- Vectors know where their entry stands, so that what is near in one project is found without looking at the others.

-- NULL where no list shows the entry.
ALTER TABLE entry_vectors ADD COLUMN layer INTEGER;

-- Empty for none.
ALTER TABLE entry_vectors ADD COLUMN project TEXT;

ALTER TABLE entry_vectors ADD COLUMN reader TEXT;

UPDATE entry_vectors SET (layer, project, reader) = (
    SELECT CASE WHEN e.listed = 1 THEN e.layer END, coalesce(e.project, ''), e.reader FROM entries e WHERE e.id = entry_vectors.entry_id
  );

-- Whoever adds a vector need not say where it stands.
CREATE TRIGGER vectors_placed AFTER INSERT ON entry_vectors WHEN NEW.project IS NULL
BEGIN
  UPDATE entry_vectors SET (layer, project, reader) = (
      SELECT CASE WHEN e.listed = 1 THEN e.layer END, coalesce(e.project, ''), e.reader FROM entries e WHERE e.id = NEW.entry_id
    )
    WHERE id = NEW.id;
END;

-- An entry that moves gets new rows, as one whose text changes, so that indexes hear of it in the same way. They come and go under
-- numbers of no entry, because whoever counts vectors by their entries has to see one set of them at any moment.
CREATE TRIGGER vectors_resettled AFTER UPDATE OF layer, project, audience, owner, diary, archived ON entries
  WHEN (OLD.listed, OLD.layer, OLD.project, OLD.reader) IS NOT (NEW.listed, NEW.layer, NEW.project, NEW.reader)
BEGIN
  INSERT INTO entry_vectors (org, entry_id, model, chunk, start, length, data, layer, project, reader)
    SELECT v.org, -v.entry_id, v.model, v.chunk, v.start, v.length, v.data,
      CASE WHEN NEW.listed = 1 THEN NEW.layer END, coalesce(NEW.project, ''), NEW.reader
    FROM entry_vectors v
    WHERE v.entry_id = NEW.id
    ORDER BY v.model, v.chunk;
  UPDATE entry_vectors SET entry_id = -4503599627370496 - NEW.id WHERE entry_id = NEW.id;
  UPDATE entry_vectors SET entry_id = NEW.id WHERE entry_id = -NEW.id;
  DELETE FROM entry_vectors WHERE entry_id = -4503599627370496 - NEW.id;
END;

-- Indexes beside the database do not know yet.
INSERT INTO outbox (org, topic, key, created_at, due_at)
  SELECT DISTINCT org, 'vector_sync', model, unixepoch() * 1000, 0 FROM entry_vectors WHERE 1 = 1
  ON CONFLICT (org, topic, key) DO UPDATE SET state = 'pending', due_at = 0;
