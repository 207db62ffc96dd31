-- What metadata says of an entry's life, and what has happened to it since, stand in columns of their own, so that a write of
-- one never resets the other. `named_…` follows the metadata; `given_…` is set by an argument, `layer_expires_at` by a layer,
-- `archived` by the life cycle. What holds is computed from both: the writer's word before the argument, the earlier end.

DROP INDEX entries_by_time;

DROP INDEX entries_by_thread;

DROP INDEX entries_by_place;

DROP INDEX entries_with_images;

DROP INDEX entries_by_expiry;

ALTER TABLE entries RENAME COLUMN weight TO given_weight;

ALTER TABLE entries RENAME COLUMN pinned TO given_pinned;

ALTER TABLE entries RENAME COLUMN expires_at TO named_expires_at;

ALTER TABLE entries ADD COLUMN named_weight INTEGER;

ALTER TABLE entries ADD COLUMN named_pinned INTEGER;

ALTER TABLE entries ADD COLUMN layer_expires_at INTEGER;

ALTER TABLE entries ADD COLUMN weight INTEGER GENERATED ALWAYS AS (coalesce(named_weight, given_weight)) VIRTUAL;

ALTER TABLE entries ADD COLUMN pinned INTEGER GENERATED ALWAYS AS (coalesce(named_pinned, given_pinned)) VIRTUAL;

ALTER TABLE entries ADD COLUMN expires_at INTEGER GENERATED ALWAYS AS (
  CASE WHEN named_expires_at IS NULL OR layer_expires_at < named_expires_at THEN layer_expires_at ELSE named_expires_at END
) VIRTUAL;

CREATE INDEX entries_by_time ON entries (org, created_second, id, expires_at, reader, project) WHERE listed = 1;

CREATE INDEX entries_by_thread ON entries (org, thread_id, created_second, id, expires_at, reader, project, source)
  WHERE listed = 1;

CREATE INDEX entries_by_place ON entries (org, thread_id, id, expires_at, reader, project) WHERE listed = 1;

CREATE INDEX entries_with_images ON entries (org, created_second, id, expires_at, reader, project, image_count)
  WHERE listed = 1 AND image_count > 0;

CREATE INDEX entries_by_expiry ON entries (org, expires_at) WHERE expires_at IS NOT NULL;

-- What the schedule removes next, whosever it is.
CREATE INDEX entries_expiring ON entries (expires_at) WHERE expires_at IS NOT NULL;

-- Until now metadata was the only one to set these, so what stands there is the writer's word …
UPDATE entries SET named_weight = given_weight, given_weight = 3
  WHERE json_type(metadata, '$.weight') IN ('integer', 'real') AND json_extract(metadata, '$.weight') = given_weight;

UPDATE entries SET named_pinned = given_pinned, given_pinned = 0 WHERE json_type(metadata, '$.pinned') IN ('true', 'false');

-- … and what the word "archived" hid comes back.
UPDATE entries SET archived = 0 WHERE archived = 1;

-- Who made a link: rewriting those of one origin never touches those of another. A link that several made is several rows.
DROP TRIGGER entries_stored;

DROP TRIGGER entries_relinked;

DROP TRIGGER entries_deleted;

CREATE TABLE links_with_origin (
  org TEXT NOT NULL,
  from_id INTEGER NOT NULL,
  relation TEXT NOT NULL,
  to_id INTEGER NOT NULL,
  origin TEXT NOT NULL DEFAULT 'metadata' CHECK (origin IN ('metadata', 'remember', 'system')),
  PRIMARY KEY (org, from_id, relation, to_id, origin)
) WITHOUT ROWID;

-- The relation is named as the metadata key that makes it.
INSERT INTO links_with_origin (org, from_id, relation, to_id)
  SELECT org, from_id, CASE relation WHEN 'REFERENCES' THEN 'references' ELSE relation END, to_id FROM links;

UPDATE entries SET links = replace(links, '"REFERENCES"', '"references"') WHERE links LIKE '%"REFERENCES"%';

DROP TABLE links;

ALTER TABLE links_with_origin RENAME TO links;

CREATE INDEX links_by_target ON links (org, to_id, relation);

CREATE TRIGGER entries_stored AFTER INSERT ON entries
BEGIN
  INSERT INTO entry_tags (org, tag, entry_id) SELECT NEW.org, value, NEW.id FROM json_each(NEW.tags);
  INSERT OR IGNORE INTO image_uses (org, hash, entry_id, size, mime_type)
    SELECT NEW.org, value ->> 'hash', NEW.id, value ->> 'size', value ->> 'mimeType' FROM json_each(NEW.images);
  INSERT OR IGNORE INTO links (org, from_id, relation, to_id, origin)
    SELECT NEW.org, NEW.id, value ->> 0, value ->> 1, 'metadata' FROM json_each(NEW.links) WHERE value ->> 1 <> NEW.id;
  INSERT INTO changes (org, entry_id, action, version, at) VALUES (NEW.org, NEW.id, 'store', NEW.version, NEW.updated_at);
END;

CREATE TRIGGER entries_relinked AFTER UPDATE OF links ON entries WHEN OLD.links IS NOT NEW.links
BEGIN
  DELETE FROM links WHERE org = NEW.org AND from_id = NEW.id AND origin = 'metadata';
  INSERT OR IGNORE INTO links (org, from_id, relation, to_id, origin)
    SELECT NEW.org, NEW.id, value ->> 0, value ->> 1, 'metadata' FROM json_each(NEW.links) WHERE value ->> 1 <> NEW.id;
END;

-- A delete happens when it is done, not when the entry was last changed. Whoever deletes, the database knows the time.
CREATE TRIGGER entries_deleted AFTER DELETE ON entries
BEGIN
  DELETE FROM entry_tags WHERE entry_id = OLD.id;
  DELETE FROM image_uses WHERE entry_id = OLD.id;
  DELETE FROM links WHERE org = OLD.org AND from_id = OLD.id;
  DELETE FROM links WHERE org = OLD.org AND to_id = OLD.id;
  INSERT INTO changes (org, entry_id, action, version, at)
    VALUES (OLD.org, OLD.id, 'delete', OLD.version + 1, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;
