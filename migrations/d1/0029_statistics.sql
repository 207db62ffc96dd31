-- What get_statistics tells, counted as it is written, for each circle of readers: by project and reader. Only what lists show is
-- counted. (src/adapters/sql/statistics-statements.ts)

CREATE TABLE circle_counters (
  org TEXT NOT NULL,
  project TEXT NOT NULL, -- '' for none
  reader TEXT NOT NULL,
  entries INTEGER NOT NULL,
  user_entries INTEGER NOT NULL,
  multimodal INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  images INTEGER NOT NULL,
  summaries INTEGER NOT NULL,
  PRIMARY KEY (org, project, reader)
) WITHOUT ROWID;

CREATE TABLE tag_counters (
  org TEXT NOT NULL,
  tag TEXT NOT NULL,
  project TEXT NOT NULL,
  reader TEXT NOT NULL,
  uses INTEGER NOT NULL,
  PRIMARY KEY (org, tag, project, reader)
) WITHOUT ROWID;

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

INSERT INTO circle_counters (org, project, reader, entries, user_entries, multimodal, bytes, images, summaries)
  SELECT org, coalesce(project, ''), reader, count(*), sum(source = 'user'), sum(image_count > 0), sum(bytes), sum(image_count),
    sum(summary <> '')
  FROM entries WHERE listed = 1 GROUP BY org, coalesce(project, ''), reader;

INSERT INTO tag_counters (org, tag, project, reader, uses)
  SELECT org, tag, project, reader, count(*) FROM entry_tags WHERE listed = 1 GROUP BY org, tag, project, reader;

INSERT INTO vector_counters (org, project, reader, model, entries, vectors, bytes)
  SELECT e.org, coalesce(e.project, ''), e.reader, v.model, sum(v.chunk = 0), count(*), sum(octet_length(v.data))
  FROM entry_vectors v CROSS JOIN entries e ON e.id = v.entry_id
  WHERE e.listed = 1 GROUP BY e.org, coalesce(e.project, ''), e.reader, v.model;

CREATE TRIGGER circles_gain AFTER INSERT ON entries WHEN NEW.listed = 1
BEGIN
  INSERT INTO circle_counters (org, project, reader, entries, user_entries, multimodal, bytes, images, summaries)
    VALUES (
      NEW.org, coalesce(NEW.project, ''), NEW.reader, 1, NEW.source = 'user', NEW.image_count > 0, NEW.bytes, NEW.image_count,
      NEW.summary <> ''
    )
    ON CONFLICT (org, project, reader) DO UPDATE SET
      entries = entries + 1, user_entries = user_entries + excluded.user_entries, multimodal = multimodal + excluded.multimodal,
      bytes = bytes + excluded.bytes, images = images + excluded.images, summaries = summaries + excluded.summaries;
END;

CREATE TRIGGER circles_loss AFTER DELETE ON entries WHEN OLD.listed = 1
BEGIN
  UPDATE circle_counters SET
      entries = entries - 1, user_entries = user_entries - (OLD.source = 'user'), multimodal = multimodal - (OLD.image_count > 0),
      bytes = bytes - OLD.bytes, images = images - OLD.image_count, summaries = summaries - (OLD.summary <> '')
    WHERE org = OLD.org AND project = coalesce(OLD.project, '') AND reader = OLD.reader;
  DELETE FROM circle_counters
    WHERE org = OLD.org AND project = coalesce(OLD.project, '') AND reader = OLD.reader AND entries = 0;
END;

CREATE TRIGGER circles_changed AFTER UPDATE OF archived, diary, audience, owner, project, image_count, bytes, summary ON entries
  WHEN (OLD.listed, OLD.project, OLD.reader, OLD.image_count, OLD.bytes, OLD.summary <> '')
    IS NOT (NEW.listed, NEW.project, NEW.reader, NEW.image_count, NEW.bytes, NEW.summary <> '')
BEGIN
  UPDATE circle_counters SET
      entries = entries - 1, user_entries = user_entries - (OLD.source = 'user'), multimodal = multimodal - (OLD.image_count > 0),
      bytes = bytes - OLD.bytes, images = images - OLD.image_count, summaries = summaries - (OLD.summary <> '')
    WHERE OLD.listed = 1 AND org = OLD.org AND project = coalesce(OLD.project, '') AND reader = OLD.reader;
  INSERT INTO circle_counters (org, project, reader, entries, user_entries, multimodal, bytes, images, summaries)
    SELECT NEW.org, coalesce(NEW.project, ''), NEW.reader, 1, NEW.source = 'user', NEW.image_count > 0, NEW.bytes, NEW.image_count,
      NEW.summary <> ''
    WHERE NEW.listed = 1
    ON CONFLICT (org, project, reader) DO UPDATE SET
      entries = entries + 1, user_entries = user_entries + excluded.user_entries, multimodal = multimodal + excluded.multimodal,
      bytes = bytes + excluded.bytes, images = images + excluded.images, summaries = summaries + excluded.summaries;
  DELETE FROM circle_counters
    WHERE org = OLD.org AND project = coalesce(OLD.project, '') AND reader = OLD.reader AND entries = 0;
END;

CREATE TRIGGER tags_gain AFTER INSERT ON entry_tags WHEN NEW.listed = 1
BEGIN
  INSERT INTO tag_counters (org, tag, project, reader, uses) VALUES (NEW.org, NEW.tag, NEW.project, NEW.reader, 1)
    ON CONFLICT (org, tag, project, reader) DO UPDATE SET uses = uses + 1;
END;

CREATE TRIGGER tags_loss AFTER DELETE ON entry_tags WHEN OLD.listed = 1
BEGIN
  UPDATE tag_counters SET uses = uses - 1
    WHERE org = OLD.org AND tag = OLD.tag AND project = OLD.project AND reader = OLD.reader;
  DELETE FROM tag_counters
    WHERE org = OLD.org AND tag = OLD.tag AND project = OLD.project AND reader = OLD.reader AND uses = 0;
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

-- What every vector of a text does costs a thousand times, so the work is queued once.
DROP TRIGGER vectors_added;

CREATE TRIGGER vectors_added AFTER INSERT ON entry_vectors
  WHEN NOT EXISTS (
    SELECT 1 FROM outbox WHERE org = NEW.org AND topic = 'vector_sync' AND key = NEW.model AND state = 'pending' AND due_at = 0
  )
BEGIN
  INSERT INTO outbox (org, topic, key, created_at, due_at) VALUES (NEW.org, 'vector_sync', NEW.model, unixepoch() * 1000, 0)
    ON CONFLICT (org, topic, key) DO UPDATE SET state = 'pending', due_at = 0;
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
