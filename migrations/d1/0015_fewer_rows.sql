-- What a write costs on D1 is rows: of tables, of indexes that hold a column that it names, and of counters. Here some of them go.

-- Who stores many entries at once counts them together when all stand there, instead of each in its turn: entries of the org above the id
-- are counted by the deletion of this row, in the same transaction. No entry above it is changed or deleted before. Threads are counted at
-- once all the same: by them the next store of the batch finds the turn that it may repeat.
CREATE TABLE counted_later (
  org TEXT PRIMARY KEY,
  above INTEGER NOT NULL
) WITHOUT ROWID;

DROP TRIGGER circles_gain;

CREATE TRIGGER circles_gain AFTER INSERT ON entries WHEN NEW.listed = 1
  AND NOT EXISTS (SELECT 1 FROM counted_later l WHERE l.org = NEW.org AND l.above < NEW.id)
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

DROP TRIGGER layers_gain;

CREATE TRIGGER layers_gain AFTER INSERT ON entries WHEN NEW.listed = 1 AND NEW.expires_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM counted_later l WHERE l.org = NEW.org AND l.above < NEW.id)
BEGIN
  INSERT INTO layer_counters (org, layer, project, reader, kind, pinned, entries, words, first_id, last_id)
    VALUES (NEW.org, NEW.layer, coalesce(NEW.project, ''), NEW.reader, NEW.kind, NEW.pinned, 1, NEW.text_words, NEW.id, NEW.id)
    ON CONFLICT (org, layer, project, reader, kind, pinned) DO UPDATE SET
      entries = entries + 1, words = words + excluded.words,
      first_id = min(first_id, excluded.first_id), last_id = max(last_id, excluded.last_id);
END;

DROP TRIGGER usage_gain;

CREATE TRIGGER usage_gain AFTER INSERT ON entries
  WHEN NOT EXISTS (SELECT 1 FROM counted_later l WHERE l.org = NEW.org AND l.above < NEW.id)
BEGIN
  INSERT INTO org_usage (org, part, items, bytes) VALUES (NEW.org, 'entries', 1, NEW.bytes)
    ON CONFLICT (org, part) DO UPDATE SET items = items + 1, bytes = bytes + excluded.bytes;
END;

DROP TRIGGER tags_gain;

CREATE TRIGGER tags_gain AFTER INSERT ON entry_tags WHEN NEW.listed = 1
  AND NOT EXISTS (SELECT 1 FROM counted_later l WHERE l.org = NEW.org AND l.above < NEW.entry_id)
BEGIN
  INSERT INTO tag_counters (org, tag, project, reader, uses) VALUES (NEW.org, NEW.tag, NEW.project, NEW.reader, 1)
    ON CONFLICT (org, tag, project, reader) DO UPDATE SET uses = uses + 1;
END;

DROP TRIGGER vectors_counted;

CREATE TRIGGER vectors_counted AFTER INSERT ON entry_vectors
  WHEN NOT EXISTS (SELECT 1 FROM counted_later l WHERE l.org = NEW.org AND l.above < NEW.entry_id)
BEGIN
  INSERT INTO vector_counters (org, project, reader, model, entries, vectors, bytes)
    SELECT e.org, coalesce(e.project, ''), e.reader, NEW.model, NEW.chunk = 0, 1, octet_length(NEW.data)
    FROM entries e WHERE e.id = NEW.entry_id AND e.listed = 1
    ON CONFLICT (org, project, reader, model) DO UPDATE SET
      entries = entries + excluded.entries, vectors = vectors + 1, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER counted_together AFTER DELETE ON counted_later
BEGIN
  INSERT INTO org_usage (org, part, items, bytes)
    SELECT OLD.org, 'entries', count(*), sum(e.bytes)
    FROM entries e WHERE e.id > OLD.above AND +e.org = OLD.org GROUP BY e.org
    ON CONFLICT (org, part) DO UPDATE SET items = items + excluded.items, bytes = bytes + excluded.bytes;
  INSERT INTO circle_counters (org, project, reader, entries, user_entries, multimodal, bytes, images, summaries)
    SELECT OLD.org, coalesce(e.project, ''), e.reader, count(*), sum(e.source = 'user'), sum(e.image_count > 0), sum(e.bytes),
      sum(e.image_count), sum(e.summary <> '')
    FROM entries e WHERE e.id > OLD.above AND +e.org = OLD.org AND +e.listed = 1 GROUP BY 2, 3
    ON CONFLICT (org, project, reader) DO UPDATE SET
      entries = entries + excluded.entries, user_entries = user_entries + excluded.user_entries,
      multimodal = multimodal + excluded.multimodal, bytes = bytes + excluded.bytes, images = images + excluded.images,
      summaries = summaries + excluded.summaries;
  INSERT INTO layer_counters (org, layer, project, reader, kind, pinned, entries, words, first_id, last_id)
    SELECT OLD.org, e.layer, coalesce(e.project, ''), e.reader, e.kind, e.pinned, count(*), sum(e.text_words), min(e.id), max(e.id)
    FROM entries e WHERE e.id > OLD.above AND +e.org = OLD.org AND +e.listed = 1 AND +e.expires_at IS NULL GROUP BY 2, 3, 4, 5, 6
    ON CONFLICT (org, layer, project, reader, kind, pinned) DO UPDATE SET
      entries = entries + excluded.entries, words = words + excluded.words,
      first_id = min(first_id, excluded.first_id), last_id = max(last_id, excluded.last_id);
  INSERT INTO tag_counters (org, tag, project, reader, uses)
    SELECT OLD.org, t.value, coalesce(e.project, ''), e.reader, count(*)
    FROM entries e, json_each(e.tags) t WHERE e.id > OLD.above AND +e.org = OLD.org AND +e.listed = 1 GROUP BY 2, 3, 4
    ON CONFLICT (org, tag, project, reader) DO UPDATE SET uses = uses + excluded.uses;
  INSERT INTO vector_counters (org, project, reader, model, entries, vectors, bytes)
    SELECT OLD.org, coalesce(e.project, ''), e.reader, v.model, sum(v.chunk = 0), count(*), sum(octet_length(v.data))
    FROM entries e CROSS JOIN entry_vectors v ON v.entry_id = e.id
    WHERE e.id > OLD.above AND +e.org = OLD.org AND +e.listed = 1 GROUP BY 2, 3, 4
    ON CONFLICT (org, project, reader, model) DO UPDATE SET
      entries = entries + excluded.entries, vectors = vectors + excluded.vectors, bytes = bytes + excluded.bytes;
END;

-- A counter of the last that it counts goes, without being written once more.
DROP TRIGGER circles_loss;

CREATE TRIGGER circles_loss AFTER DELETE ON entries WHEN OLD.listed = 1
BEGIN
  DELETE FROM circle_counters
    WHERE org = OLD.org AND project = coalesce(OLD.project, '') AND reader = OLD.reader AND entries = 1;
  UPDATE circle_counters SET
      entries = entries - 1, user_entries = user_entries - (OLD.source = 'user'), multimodal = multimodal - (OLD.image_count > 0),
      bytes = bytes - OLD.bytes, images = images - OLD.image_count, summaries = summaries - (OLD.summary <> '')
    WHERE org = OLD.org AND project = coalesce(OLD.project, '') AND reader = OLD.reader;
END;

DROP TRIGGER layers_loss;

CREATE TRIGGER layers_loss AFTER DELETE ON entries WHEN OLD.listed = 1 AND OLD.expires_at IS NULL
BEGIN
  DELETE FROM layer_counters
    WHERE org = OLD.org AND layer = OLD.layer AND project = coalesce(OLD.project, '') AND reader = OLD.reader
      AND kind = OLD.kind AND pinned = OLD.pinned AND entries = 1;
  UPDATE layer_counters SET entries = entries - 1, words = words - OLD.text_words
    WHERE org = OLD.org AND layer = OLD.layer AND project = coalesce(OLD.project, '') AND reader = OLD.reader
      AND kind = OLD.kind AND pinned = OLD.pinned;
END;

DROP TRIGGER tags_loss;

CREATE TRIGGER tags_loss AFTER DELETE ON entry_tags WHEN OLD.listed = 1
BEGIN
  DELETE FROM tag_counters
    WHERE org = OLD.org AND tag = OLD.tag AND project = OLD.project AND reader = OLD.reader AND uses = 1;
  UPDATE tag_counters SET uses = uses - 1
    WHERE org = OLD.org AND tag = OLD.tag AND project = OLD.project AND reader = OLD.reader;
END;

-- Threads are in an index by their last entry, which is left alone where another one goes.
DROP TRIGGER counters_loss;

CREATE TRIGGER counters_loss AFTER DELETE ON entries WHEN OLD.listed = 1
  AND EXISTS (
    SELECT 1 FROM thread_counters c
    WHERE c.org = OLD.org AND c.thread_id = OLD.thread_id AND c.project = coalesce(OLD.project, '') AND c.reader = OLD.reader
      AND (OLD.created_second >= c.last_second OR OLD.id >= c.last_id)
  )
BEGIN
  DELETE FROM thread_counters
    WHERE org = OLD.org AND thread_id = OLD.thread_id AND project = coalesce(OLD.project, '') AND reader = OLD.reader AND entries = 1;
  UPDATE thread_counters SET
      entries = entries - 1, user_entries = user_entries - (OLD.source = 'user'), multimodal = multimodal - (OLD.image_count > 0),
      bytes = bytes - OLD.bytes, words = words - OLD.text_words,
      first_second = CASE WHEN OLD.created_second > first_second THEN first_second ELSE
        (SELECT created_second FROM entries
          WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND coalesce(project, '') = coalesce(OLD.project, '')
            AND reader = OLD.reader ORDER BY created_second LIMIT 1) END,
      last_second = CASE WHEN OLD.created_second < last_second THEN last_second ELSE
        (SELECT created_second FROM entries
          WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND coalesce(project, '') = coalesce(OLD.project, '')
            AND reader = OLD.reader ORDER BY created_second DESC LIMIT 1) END,
      first_id = CASE WHEN OLD.id > first_id THEN first_id ELSE
        (SELECT min(id) FROM (
          SELECT * FROM (SELECT id FROM entries
            WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND source = 'user' AND reader = OLD.reader
              AND coalesce(project, '') = coalesce(OLD.project, '') ORDER BY id LIMIT 1)
          UNION ALL SELECT * FROM (SELECT id FROM entries
            WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND source = 'agent' AND reader = OLD.reader
              AND coalesce(project, '') = coalesce(OLD.project, '') ORDER BY id LIMIT 1)
        )) END,
      last_id = CASE WHEN OLD.id < last_id THEN last_id ELSE
        (SELECT max(id) FROM (
          SELECT * FROM (SELECT id FROM entries
            WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND source = 'user' AND reader = OLD.reader
              AND coalesce(project, '') = coalesce(OLD.project, '') ORDER BY id DESC LIMIT 1)
          UNION ALL SELECT * FROM (SELECT id FROM entries
            WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND source = 'agent' AND reader = OLD.reader
              AND coalesce(project, '') = coalesce(OLD.project, '') ORDER BY id DESC LIMIT 1)
        )) END
    WHERE org = OLD.org AND thread_id = OLD.thread_id AND project = coalesce(OLD.project, '') AND reader = OLD.reader;
END;

CREATE TRIGGER counters_loss_before_last AFTER DELETE ON entries WHEN OLD.listed = 1
  AND EXISTS (
    SELECT 1 FROM thread_counters c
    WHERE c.org = OLD.org AND c.thread_id = OLD.thread_id AND c.project = coalesce(OLD.project, '') AND c.reader = OLD.reader
      AND OLD.created_second < c.last_second AND OLD.id < c.last_id
  )
BEGIN
  UPDATE thread_counters SET
      entries = entries - 1, user_entries = user_entries - (OLD.source = 'user'), multimodal = multimodal - (OLD.image_count > 0),
      bytes = bytes - OLD.bytes, words = words - OLD.text_words,
      first_second = CASE WHEN OLD.created_second > first_second THEN first_second ELSE
        (SELECT created_second FROM entries
          WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND coalesce(project, '') = coalesce(OLD.project, '')
            AND reader = OLD.reader ORDER BY created_second LIMIT 1) END,
      first_id = CASE WHEN OLD.id > first_id THEN first_id ELSE
        (SELECT min(id) FROM (
          SELECT * FROM (SELECT id FROM entries
            WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND source = 'user' AND reader = OLD.reader
              AND coalesce(project, '') = coalesce(OLD.project, '') ORDER BY id LIMIT 1)
          UNION ALL SELECT * FROM (SELECT id FROM entries
            WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND source = 'agent' AND reader = OLD.reader
              AND coalesce(project, '') = coalesce(OLD.project, '') ORDER BY id LIMIT 1)
        )) END
    WHERE org = OLD.org AND thread_id = OLD.thread_id AND project = coalesce(OLD.project, '') AND reader = OLD.reader;
END;

-- Lists of memories show no count of words, so a changed text leaves their indexes alone.
DROP INDEX entries_by_layer;

CREATE INDEX entries_by_layer ON entries (org, layer, created_at, id, project, expires_at, reader, kind, pinned) WHERE listed = 1;

DROP INDEX entries_of_project;

CREATE INDEX entries_of_project ON entries (org, project, layer, created_at, id, expires_at, reader, kind, pinned) WHERE listed = 1;
