-- Who changed what, in which call, and who may learn of it: what the change feed and history read.

-- Who writes in an org, which triggers cannot know. A batch that writes entries puts its row here first and takes it away last,
-- so that none outlives it. The org '' stands for work on all orgs, which is nobody's call.
CREATE TABLE writing (
  org TEXT PRIMARY KEY,
  change_id TEXT NOT NULL, -- random; one a call, shared by all it does
  key_id TEXT,
  agent TEXT,
  keeps INTEGER NOT NULL DEFAULT 0, -- whether the states before are kept
  since INTEGER NOT NULL -- the newest row of `changes` before the batch
) WITHOUT ROWID;

-- Who made the version that stands there, and whether a restoration did; null for versions from before there was history.
ALTER TABLE entries ADD COLUMN changed_by TEXT;

ALTER TABLE entries ADD COLUMN changed_agent TEXT;

ALTER TABLE entries ADD COLUMN restored INTEGER NOT NULL DEFAULT 0;

-- Null in rows from before.
ALTER TABLE changes ADD COLUMN change_id TEXT;

ALTER TABLE changes ADD COLUMN key_id TEXT;

ALTER TABLE changes ADD COLUMN agent TEXT;

-- After the change; of a deleted entry, as it was. The reader is null where lists do not show it.
ALTER TABLE changes ADD COLUMN thread_id TEXT;

ALTER TABLE changes ADD COLUMN project TEXT;

ALTER TABLE changes ADD COLUMN kind TEXT;

ALTER TABLE changes ADD COLUMN reader TEXT;

-- Before it; null where nothing was.
ALTER TABLE changes ADD COLUMN was_thread TEXT;

ALTER TABLE changes ADD COLUMN was_project TEXT;

ALTER TABLE changes ADD COLUMN was_kind TEXT;

ALTER TABLE changes ADD COLUMN was_reader TEXT;

ALTER TABLE changes ADD COLUMN erased INTEGER NOT NULL DEFAULT 0;

CREATE INDEX changes_by_org ON changes (org, seq);

CREATE INDEX changes_by_entry ON changes (org, entry_id);

DROP TRIGGER entries_stored;

CREATE TRIGGER entries_stored AFTER INSERT ON entries
BEGIN
  INSERT INTO entry_tags (org, tag, entry_id) SELECT NEW.org, value, NEW.id FROM json_each(NEW.tags);
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

DROP TRIGGER entries_changed;

CREATE TRIGGER entries_changed AFTER UPDATE OF version ON entries
BEGIN
  INSERT INTO changes (
      org, entry_id, action, version, at, change_id, key_id, agent,
      thread_id, project, kind, reader, was_thread, was_project, was_kind, was_reader
    )
    SELECT NEW.org, NEW.id, 'update', NEW.version, NEW.updated_at,
      coalesce(w.change_id, lower(hex(randomblob(16)))), NEW.changed_by, NEW.changed_agent,
      NEW.thread_id, NEW.project, NEW.kind,
      CASE WHEN NEW.listed = 1 AND (NEW.expires_at IS NULL OR NEW.expires_at > NEW.updated_at) THEN NEW.reader END,
      OLD.thread_id, OLD.project, OLD.kind,
      CASE WHEN OLD.listed = 1 AND (OLD.expires_at IS NULL OR OLD.expires_at > OLD.updated_at) THEN OLD.reader END
    FROM (SELECT 1) LEFT JOIN writing w ON w.org IN (NEW.org, '');
END;

-- The life cycle archives and brings back without a new version; lists lose or gain the entry nevertheless.
CREATE TRIGGER entries_archived AFTER UPDATE OF archived ON entries
  WHEN OLD.archived <> NEW.archived AND OLD.version = NEW.version
BEGIN
  INSERT INTO changes (
      org, entry_id, action, version, at, change_id, key_id, agent,
      thread_id, project, kind, reader, was_thread, was_project, was_kind, was_reader
    )
    SELECT NEW.org, NEW.id, 'update', NEW.version, CAST(unixepoch('subsec') * 1000 AS INTEGER),
      coalesce(w.change_id, lower(hex(randomblob(16)))), w.key_id, w.agent,
      NEW.thread_id, NEW.project, NEW.kind,
      CASE WHEN NEW.listed = 1 AND (NEW.expires_at IS NULL OR NEW.expires_at > NEW.updated_at) THEN NEW.reader END,
      OLD.thread_id, OLD.project, OLD.kind,
      CASE WHEN OLD.listed = 1 AND (OLD.expires_at IS NULL OR OLD.expires_at > OLD.updated_at) THEN OLD.reader END
    FROM (SELECT 1) LEFT JOIN writing w ON w.org IN (NEW.org, '');
END;

DROP TRIGGER entries_deleted;

CREATE TRIGGER entries_deleted AFTER DELETE ON entries
BEGIN
  DELETE FROM entry_tags WHERE entry_id = OLD.id;
  DELETE FROM image_uses WHERE entry_id = OLD.id;
  DELETE FROM links WHERE org = OLD.org AND from_id = OLD.id;
  DELETE FROM links WHERE org = OLD.org AND to_id = OLD.id;
  INSERT INTO changes (
      org, entry_id, action, version, at, change_id, key_id, agent,
      thread_id, project, kind, was_thread, was_project, was_kind, was_reader
    )
    SELECT OLD.org, OLD.id, 'delete', OLD.version + 1, CAST(unixepoch('subsec') * 1000 AS INTEGER),
      coalesce(w.change_id, lower(hex(randomblob(16)))), w.key_id, w.agent,
      OLD.thread_id, OLD.project, OLD.kind, OLD.thread_id, OLD.project, OLD.kind,
      CASE WHEN OLD.listed = 1 AND (OLD.expires_at IS NULL OR OLD.expires_at > OLD.updated_at) THEN OLD.reader END
    FROM (SELECT 1) LEFT JOIN writing w ON w.org IN (OLD.org, '');
END;
