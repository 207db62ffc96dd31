-- How many entries of each sort a layer holds, so that totals and statistics of memories cost the same in a store of any size; and tags
-- with what a list asks of their entries, so that a list by tags reads no other row.

-- Each listed entry without an end is counted in one row. Those with an end leave by themselves, so they are counted when asked for.
CREATE TABLE layer_counters (
  org TEXT NOT NULL,
  layer INTEGER NOT NULL,
  project TEXT NOT NULL, -- '' for none
  reader TEXT NOT NULL,
  kind TEXT NOT NULL,
  pinned INTEGER NOT NULL,
  entries INTEGER NOT NULL,
  words INTEGER NOT NULL,
  first_id INTEGER NOT NULL, -- between which ids they stand, or stood
  last_id INTEGER NOT NULL,
  PRIMARY KEY (org, layer, project, reader, kind, pinned)
) WITHOUT ROWID;

INSERT INTO layer_counters (org, layer, project, reader, kind, pinned, entries, words, first_id, last_id)
  SELECT org, layer, coalesce(project, '') AS place, reader, kind, pinned, count(*), sum(text_words), min(id), max(id)
  FROM entries WHERE listed = 1 AND expires_at IS NULL GROUP BY org, layer, place, reader, kind, pinned;

CREATE INDEX entries_ending ON entries (org, layer, project, expires_at, reader, kind, pinned, text_words)
  WHERE listed = 1 AND expires_at IS NOT NULL;

CREATE TRIGGER layers_gain AFTER INSERT ON entries WHEN NEW.listed = 1 AND NEW.expires_at IS NULL
BEGIN
  INSERT INTO layer_counters (org, layer, project, reader, kind, pinned, entries, words, first_id, last_id)
    VALUES (NEW.org, NEW.layer, coalesce(NEW.project, ''), NEW.reader, NEW.kind, NEW.pinned, 1, NEW.text_words, NEW.id, NEW.id)
    ON CONFLICT (org, layer, project, reader, kind, pinned) DO UPDATE SET
      entries = entries + 1, words = words + excluded.words,
      first_id = min(first_id, excluded.first_id), last_id = max(last_id, excluded.last_id);
END;

CREATE TRIGGER layers_loss AFTER DELETE ON entries WHEN OLD.listed = 1 AND OLD.expires_at IS NULL
BEGIN
  UPDATE layer_counters SET entries = entries - 1, words = words - OLD.text_words
    WHERE org = OLD.org AND layer = OLD.layer AND project = coalesce(OLD.project, '') AND reader = OLD.reader
      AND kind = OLD.kind AND pinned = OLD.pinned;
  DELETE FROM layer_counters
    WHERE org = OLD.org AND layer = OLD.layer AND project = coalesce(OLD.project, '') AND reader = OLD.reader
      AND kind = OLD.kind AND pinned = OLD.pinned AND entries = 0;
END;

CREATE TRIGGER layers_left AFTER UPDATE OF
    layer, project, audience, owner, diary, archived, named_kind, tag_kind, work_item, source, given_pinned, named_pinned,
    named_expires_at, layer_expires_at, text_words
  ON entries
  WHEN OLD.listed = 1 AND OLD.expires_at IS NULL
    AND (NEW.listed, NEW.expires_at, NEW.layer, NEW.project, NEW.reader, NEW.kind, NEW.pinned, NEW.text_words)
      IS NOT (OLD.listed, OLD.expires_at, OLD.layer, OLD.project, OLD.reader, OLD.kind, OLD.pinned, OLD.text_words)
BEGIN
  UPDATE layer_counters SET entries = entries - 1, words = words - OLD.text_words
    WHERE org = OLD.org AND layer = OLD.layer AND project = coalesce(OLD.project, '') AND reader = OLD.reader
      AND kind = OLD.kind AND pinned = OLD.pinned;
  DELETE FROM layer_counters
    WHERE org = OLD.org AND layer = OLD.layer AND project = coalesce(OLD.project, '') AND reader = OLD.reader
      AND kind = OLD.kind AND pinned = OLD.pinned AND entries = 0;
END;

CREATE TRIGGER layers_joined AFTER UPDATE OF
    layer, project, audience, owner, diary, archived, named_kind, tag_kind, work_item, source, given_pinned, named_pinned,
    named_expires_at, layer_expires_at, text_words
  ON entries
  WHEN NEW.listed = 1 AND NEW.expires_at IS NULL
    AND (NEW.listed, NEW.expires_at, NEW.layer, NEW.project, NEW.reader, NEW.kind, NEW.pinned, NEW.text_words)
      IS NOT (OLD.listed, OLD.expires_at, OLD.layer, OLD.project, OLD.reader, OLD.kind, OLD.pinned, OLD.text_words)
BEGIN
  INSERT INTO layer_counters (org, layer, project, reader, kind, pinned, entries, words, first_id, last_id)
    VALUES (NEW.org, NEW.layer, coalesce(NEW.project, ''), NEW.reader, NEW.kind, NEW.pinned, 1, NEW.text_words, NEW.id, NEW.id)
    ON CONFLICT (org, layer, project, reader, kind, pinned) DO UPDATE SET
      entries = entries + 1, words = words + excluded.words,
      first_id = min(first_id, excluded.first_id), last_id = max(last_id, excluded.last_id);
END;

-- The newest of each kind in a layer.
CREATE INDEX entries_of_kind ON entries (org, project, layer, kind, created_at, id, expires_at, reader) WHERE listed = 1;

CREATE INDEX entries_by_kind ON entries (org, kind, created_at, id, expires_at, reader, project) WHERE listed = 1 AND layer = 3;

-- Tags with what a list asks of their entries.
ALTER TABLE entry_tags ADD COLUMN created_at INTEGER NOT NULL DEFAULT 0;

ALTER TABLE entry_tags ADD COLUMN kind TEXT NOT NULL DEFAULT '';

ALTER TABLE entry_tags ADD COLUMN reader TEXT NOT NULL DEFAULT '';

ALTER TABLE entry_tags ADD COLUMN expires_at INTEGER;

ALTER TABLE entry_tags ADD COLUMN listed INTEGER NOT NULL DEFAULT 0;

UPDATE entry_tags SET (created_at, kind, reader, expires_at, listed) =
  (SELECT e.created_at, e.kind, e.reader, e.expires_at, e.listed FROM entries e WHERE e.id = entry_tags.entry_id)
  WHERE entry_id IN (SELECT id FROM entries);

DROP TRIGGER entries_stored;

CREATE TRIGGER entries_stored AFTER INSERT ON entries
BEGIN
  INSERT INTO entry_tags (org, tag, layer, project, entry_id, created_at, kind, reader, expires_at, listed)
    SELECT NEW.org, value, NEW.layer, coalesce(NEW.project, ''), NEW.id, NEW.created_at, NEW.kind, NEW.reader, NEW.expires_at, NEW.listed
    FROM json_each(NEW.tags);
  INSERT OR IGNORE INTO image_uses (org, hash, entry_id, size, mime_type)
    SELECT NEW.org, value ->> 'hash', NEW.id, value ->> 'size', value ->> 'mimeType' FROM json_each(NEW.images);
  INSERT OR IGNORE INTO links (org, from_id, relation, to_id, origin)
    SELECT NEW.org, NEW.id, value ->> 0, value ->> 1, 'metadata' FROM json_each(NEW.links) WHERE value ->> 1 <> NEW.id;
  INSERT INTO changes (org, entry_id, action, version, at, change_id, key_id, agent, thread_id, project, kind, reader)
    SELECT NEW.org, NEW.id, 'store', NEW.version, NEW.updated_at,
      coalesce(w.change_id, lower(hex(randomblob(16)))), NEW.changed_by, NEW.changed_agent,
      NEW.thread_id, NEW.project, NEW.kind,
      CASE WHEN NEW.listed = 1 AND (NEW.expires_at IS NULL OR NEW.expires_at > NEW.updated_at) THEN NEW.reader END
    FROM (SELECT 1) LEFT JOIN writing w ON w.org IN (NEW.org, '');
END;

DROP TRIGGER entries_retagged;

CREATE TRIGGER entries_retagged AFTER UPDATE OF
    tags, layer, project, audience, owner, diary, archived, named_kind, tag_kind, work_item, source, named_expires_at, layer_expires_at
  ON entries
  WHEN (NEW.tags, NEW.layer, NEW.project, NEW.kind, NEW.reader, NEW.expires_at, NEW.listed)
    IS NOT (OLD.tags, OLD.layer, OLD.project, OLD.kind, OLD.reader, OLD.expires_at, OLD.listed)
BEGIN
  DELETE FROM entry_tags WHERE entry_id = NEW.id;
  INSERT INTO entry_tags (org, tag, layer, project, entry_id, created_at, kind, reader, expires_at, listed)
    SELECT NEW.org, value, NEW.layer, coalesce(NEW.project, ''), NEW.id, NEW.created_at, NEW.kind, NEW.reader, NEW.expires_at, NEW.listed
    FROM json_each(NEW.tags);
END;
