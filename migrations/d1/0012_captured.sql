-- What the hooks of clients capture (docs/contracts/capture.md): sessions that are gathered, the entries they become, and keys that
-- capture nothing.

-- Written by hooks, and kept by nobody yet. Such an entry is archived too, so that whatever asks for what is listed leaves it out.
ALTER TABLE entries ADD COLUMN captured INTEGER NOT NULL DEFAULT 0;

-- By the session's thread, and the newest of a project.
CREATE INDEX entries_captured_by_thread ON entries (org, thread_id, id) WHERE captured = 1;

CREATE INDEX entries_captured_by_project ON entries (org, project, updated_at, id) WHERE captured = 1;

DROP INDEX entries_archived;

CREATE INDEX entries_archived ON entries (org, layer, created_at, id, project) WHERE archived = 1 AND diary = 0 AND captured = 0;

ALTER TABLE api_keys ADD COLUMN captures INTEGER NOT NULL DEFAULT 1;

-- What was gathered of a session, by the owner whose it is.
CREATE TABLE capture_sessions (
  org TEXT NOT NULL,
  owner TEXT NOT NULL,
  session TEXT NOT NULL, -- '<client>:<id>', as its thread is named
  revision INTEGER NOT NULL, -- + 1 with each request, so that of two at once one is first
  project TEXT NOT NULL, -- '' for none
  key_id TEXT NOT NULL, -- that the last of it arrived with
  agent TEXT,
  state TEXT NOT NULL, -- JSON of domain/capture/gathered.ts
  written TEXT, -- JSON: what the last checkpoint wrote, when, and as which entry
  entry_id INTEGER, -- that it became
  seen_at INTEGER NOT NULL, -- when something last arrived
  claimed_at INTEGER, -- when somebody began to write it
  due_at INTEGER, -- when the schedule writes it; null when nothing is left to be written
  PRIMARY KEY (org, owner, session)
) WITHOUT ROWID;

CREATE INDEX capture_sessions_due ON capture_sessions (due_at) WHERE due_at IS NOT NULL;

CREATE INDEX capture_sessions_by_entry ON capture_sessions (org, entry_id) WHERE entry_id IS NOT NULL;

CREATE INDEX capture_sessions_by_time ON capture_sessions (seen_at);

-- Events that have arrived, with what was answered.
CREATE TABLE capture_events (
  org TEXT NOT NULL,
  owner TEXT NOT NULL,
  id TEXT NOT NULL,
  at INTEGER NOT NULL,
  output TEXT, -- the text that was recalled; null for none
  PRIMARY KEY (org, owner, id)
) WITHOUT ROWID;

CREATE INDEX capture_events_by_time ON capture_events (at);

-- What was recalled holds words of entries, which may be erased.
CREATE INDEX capture_events_told ON capture_events (org) WHERE output IS NOT NULL;

-- What an owner's sessions of a project and branch were last told at their start.
CREATE TABLE capture_starts (
  org TEXT NOT NULL,
  owner TEXT NOT NULL,
  place TEXT NOT NULL, -- project and branch, as JSON
  digest TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (org, owner, place)
) WITHOUT ROWID;

CREATE INDEX capture_starts_by_time ON capture_starts (at);

-- They count among the bytes of their org (0008).
CREATE TRIGGER capture_sessions_gain AFTER INSERT ON capture_sessions
BEGIN
  INSERT INTO org_usage (org, part, items, bytes) VALUES (NEW.org, 'capture', 1, octet_length(NEW.session || NEW.state))
    ON CONFLICT (org, part) DO UPDATE SET items = items + 1, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER capture_sessions_change AFTER UPDATE OF state ON capture_sessions WHEN OLD.state <> NEW.state
BEGIN
  UPDATE org_usage SET bytes = bytes - octet_length(OLD.state) + octet_length(NEW.state) WHERE org = NEW.org AND part = 'capture';
END;

CREATE TRIGGER capture_sessions_loss AFTER DELETE ON capture_sessions
BEGIN
  UPDATE org_usage SET items = items - 1, bytes = bytes - octet_length(OLD.session || OLD.state) WHERE org = OLD.org AND part = 'capture';
END;

CREATE TRIGGER capture_events_gain AFTER INSERT ON capture_events
BEGIN
  INSERT INTO org_usage (org, part, items, bytes) VALUES (NEW.org, 'capture', 1, octet_length(NEW.id || coalesce(NEW.output, '')))
    ON CONFLICT (org, part) DO UPDATE SET items = items + 1, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER capture_events_change AFTER UPDATE OF output ON capture_events
BEGIN
  UPDATE org_usage SET bytes = bytes - octet_length(coalesce(OLD.output, '')) + octet_length(coalesce(NEW.output, ''))
    WHERE org = NEW.org AND part = 'capture';
END;

CREATE TRIGGER capture_events_loss AFTER DELETE ON capture_events
BEGIN
  UPDATE org_usage SET items = items - 1, bytes = bytes - octet_length(OLD.id || coalesce(OLD.output, ''))
    WHERE org = OLD.org AND part = 'capture';
END;

-- The feed tells of captured entries too, to whoever may read them.
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
      CASE WHEN (NEW.listed = 1 OR NEW.captured = 1) AND (NEW.expires_at IS NULL OR NEW.expires_at > NEW.updated_at) THEN NEW.reader END
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
      CASE WHEN (NEW.listed = 1 OR NEW.captured = 1) AND (NEW.expires_at IS NULL OR NEW.expires_at > NEW.updated_at) THEN NEW.reader END,
      OLD.thread_id, OLD.project, OLD.kind,
      CASE WHEN (OLD.listed = 1 OR OLD.captured = 1) AND (OLD.expires_at IS NULL OR OLD.expires_at > OLD.updated_at) THEN OLD.reader END
    FROM (SELECT 1) LEFT JOIN writing w ON w.org IN (NEW.org, '');
END;

DROP TRIGGER entries_archived;

CREATE TRIGGER entries_archived AFTER UPDATE OF archived ON entries
  WHEN OLD.archived <> NEW.archived AND OLD.version = NEW.version
BEGIN
  INSERT INTO changes (
      org, entry_id, action, version, at, change_id, key_id, agent,
      thread_id, project, kind, reader, was_thread, was_project, was_kind, was_reader
    )
    SELECT NEW.org, NEW.id, 'update', NEW.version, coalesce(w.at, CAST(unixepoch('subsec') * 1000 AS INTEGER)),
      coalesce(w.change_id, lower(hex(randomblob(16)))), w.key_id, w.agent,
      NEW.thread_id, NEW.project, NEW.kind,
      CASE WHEN (NEW.listed = 1 OR NEW.captured = 1) AND (NEW.expires_at IS NULL OR NEW.expires_at > NEW.updated_at) THEN NEW.reader END,
      OLD.thread_id, OLD.project, OLD.kind,
      CASE WHEN (OLD.listed = 1 OR OLD.captured = 1) AND (OLD.expires_at IS NULL OR OLD.expires_at > OLD.updated_at) THEN OLD.reader END
    FROM (SELECT 1) LEFT JOIN writing w ON w.org IN (NEW.org, '');
END;

DROP TRIGGER entries_deleted;

CREATE TRIGGER entries_deleted AFTER DELETE ON entries
BEGIN
  DELETE FROM entry_tags
    WHERE org = OLD.org AND tag IN (SELECT value FROM json_each(OLD.tags))
      AND layer = OLD.layer AND project = coalesce(OLD.project, '') AND entry_id = OLD.id;
  DELETE FROM image_uses WHERE entry_id = OLD.id;
  DELETE FROM links WHERE org = OLD.org AND from_id = OLD.id;
  INSERT OR IGNORE INTO dangling_links (entry_id, org)
    SELECT OLD.id, OLD.org
    WHERE EXISTS (SELECT 1 FROM links WHERE to_id = OLD.id)
      AND NOT EXISTS (SELECT 1 FROM entry_versions WHERE entry_id = OLD.id);
  INSERT INTO changes (
      org, entry_id, action, version, at, change_id, key_id, agent,
      thread_id, project, kind, was_thread, was_project, was_kind, was_reader, last_reader
    )
    SELECT OLD.org, OLD.id, 'delete', OLD.version + 1, coalesce(w.at, CAST(unixepoch('subsec') * 1000 AS INTEGER)),
      coalesce(w.change_id, lower(hex(randomblob(16)))), w.key_id, w.agent,
      OLD.thread_id, OLD.project, OLD.kind, OLD.thread_id, OLD.project, OLD.kind,
      CASE WHEN (OLD.listed = 1 OR OLD.captured = 1) AND (OLD.expires_at IS NULL OR OLD.expires_at > OLD.updated_at) THEN OLD.reader END,
      OLD.reader
    FROM (SELECT 1) LEFT JOIN writing w ON w.org IN (OLD.org, '');
END;
