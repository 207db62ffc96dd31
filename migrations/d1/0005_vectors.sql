-- Vectors beside the entry: the truth, from which every vector index is rebuilt. One row a chunk of text.

-- They know where their entry stands, so that what is near in one project is found without looking at the others.
CREATE TABLE entry_vectors (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused: a text that changes gets new rows
  org TEXT NOT NULL,
  entry_id INTEGER NOT NULL,
  model TEXT NOT NULL, -- model and dimensions, as in domain/vector.ts
  chunk INTEGER NOT NULL,
  start INTEGER NOT NULL, -- code points of the text from which the vector was made
  length INTEGER NOT NULL,
  layer INTEGER, -- null where no list shows the entry
  project TEXT, -- '' for none
  reader TEXT,
  data TEXT NOT NULL, -- scale and int8 values as text; never BLOB, which D1 returns as arrays of numbers
  UNIQUE (entry_id, model, chunk)
);

CREATE INDEX entry_vectors_by_org ON entry_vectors (org, model, id);

-- Vectors that are gone, for indexes that have not heard of it yet.
CREATE TABLE vector_removals (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  org TEXT NOT NULL,
  vector_id INTEGER NOT NULL
);

CREATE INDEX vector_removals_by_org ON vector_removals (org, id);

-- What get_statistics tells of them, for each circle of readers.
CREATE TABLE vector_counters (
  org TEXT NOT NULL,
  project TEXT NOT NULL,
  reader TEXT NOT NULL,
  model TEXT NOT NULL,
  entries INTEGER NOT NULL, -- those with a first chunk
  vectors INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (org, project, reader, model)
) WITHOUT ROWID;

CREATE TRIGGER vectors_added AFTER INSERT ON entry_vectors
  WHEN NOT EXISTS (
    SELECT 1 FROM outbox WHERE org = NEW.org AND topic = 'vector_sync' AND key = NEW.model AND state = 'pending' AND due_at = 0
  )
BEGIN
  INSERT INTO outbox (org, topic, key, created_at, due_at) VALUES (NEW.org, 'vector_sync', NEW.model, unixepoch() * 1000, 0)
    ON CONFLICT (org, topic, key) DO UPDATE SET state = 'pending', due_at = 0;
END;

CREATE TRIGGER vectors_removed AFTER DELETE ON entry_vectors
BEGIN
  INSERT INTO vector_removals (org, vector_id) VALUES (OLD.org, OLD.id);
  INSERT INTO outbox (org, topic, key, created_at, due_at)
    SELECT OLD.org, 'vector_sync', OLD.model, unixepoch() * 1000, 0
    WHERE NOT EXISTS (
      SELECT 1 FROM outbox WHERE org = OLD.org AND topic = 'vector_sync' AND key = OLD.model AND state = 'pending' AND due_at = 0
    )
    ON CONFLICT (org, topic, key) DO UPDATE SET state = 'pending', due_at = 0;
END;

CREATE TRIGGER entries_unvectored AFTER DELETE ON entries
BEGIN
  DELETE FROM entry_vectors WHERE entry_id = OLD.id;
END;

-- Of an entry that goes, all vectors are counted out before it; each then finds no entry any more.
CREATE TRIGGER vectors_counted AFTER INSERT ON entry_vectors
BEGIN
  INSERT INTO vector_counters (org, project, reader, model, entries, vectors, bytes)
    SELECT e.org, coalesce(e.project, ''), e.reader, NEW.model, NEW.chunk = 0, 1, octet_length(NEW.data)
    FROM entries e WHERE e.id = NEW.entry_id AND e.listed = 1
    ON CONFLICT (org, project, reader, model) DO UPDATE SET
      entries = entries + excluded.entries, vectors = vectors + 1, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER vectors_uncounted AFTER DELETE ON entry_vectors
BEGIN
  UPDATE vector_counters SET
      entries = vector_counters.entries - (OLD.chunk = 0), vectors = vectors - 1, bytes = vector_counters.bytes - octet_length(OLD.data)
    FROM (SELECT e.org, coalesce(e.project, '') AS project, e.reader FROM entries e WHERE e.id = OLD.entry_id AND e.listed = 1) was
    WHERE vector_counters.org = was.org AND vector_counters.project = was.project AND vector_counters.reader = was.reader
      AND vector_counters.model = OLD.model;
END;

CREATE TRIGGER vectors_leaving BEFORE DELETE ON entries WHEN OLD.listed = 1
BEGIN
  UPDATE vector_counters SET
      entries = vector_counters.entries - had.entries, vectors = vector_counters.vectors - had.vectors,
      bytes = vector_counters.bytes - had.bytes
    FROM (
      SELECT model, sum(chunk = 0) AS entries, count(*) AS vectors, sum(octet_length(data)) AS bytes
      FROM entry_vectors WHERE entry_id = OLD.id GROUP BY model
    ) had
    WHERE vector_counters.org = OLD.org AND vector_counters.project = coalesce(OLD.project, '')
      AND vector_counters.reader = OLD.reader AND vector_counters.model = had.model;
END;

CREATE TRIGGER vectors_moved AFTER UPDATE OF archived, diary, audience, owner, project ON entries
  WHEN (OLD.listed, OLD.project, OLD.reader) IS NOT (NEW.listed, NEW.project, NEW.reader)
BEGIN
  UPDATE vector_counters SET
      entries = vector_counters.entries - had.entries, vectors = vector_counters.vectors - had.vectors,
      bytes = vector_counters.bytes - had.bytes
    FROM (
      SELECT model, sum(chunk = 0) AS entries, count(*) AS vectors, sum(octet_length(data)) AS bytes
      FROM entry_vectors WHERE entry_id = OLD.id AND OLD.listed = 1 GROUP BY model
    ) had
    WHERE vector_counters.org = OLD.org AND vector_counters.project = coalesce(OLD.project, '')
      AND vector_counters.reader = OLD.reader AND vector_counters.model = had.model;
  INSERT INTO vector_counters (org, project, reader, model, entries, vectors, bytes)
    SELECT NEW.org, coalesce(NEW.project, ''), NEW.reader, model, sum(chunk = 0), count(*), sum(octet_length(data))
    FROM entry_vectors WHERE entry_id = NEW.id AND NEW.listed = 1 GROUP BY model
    ON CONFLICT (org, project, reader, model) DO UPDATE SET
      entries = entries + excluded.entries, vectors = vectors + excluded.vectors, bytes = bytes + excluded.bytes;
END;

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
