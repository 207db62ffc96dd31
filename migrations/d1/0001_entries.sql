-- One store of entries and everything that is kept in step with them by triggers.
-- Statements are separated by a blank line; none contains one.

CREATE TABLE entries (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  org TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  source TEXT NOT NULL CHECK (source IN ('user', 'agent')),
  layer INTEGER NOT NULL CHECK (layer IN (1, 2, 3)),
  version INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL, -- milliseconds since 1970
  updated_at INTEGER NOT NULL,
  created_second INTEGER GENERATED ALWAYS AS (created_at / 1000) VIRTUAL,
  -- Lifted from metadata on every write that touches it.
  named_kind TEXT,
  tag_kind TEXT,
  work_item INTEGER NOT NULL DEFAULT 0,
  kind TEXT GENERATED ALWAYS AS (coalesce(named_kind, tag_kind, CASE WHEN work_item THEN 'task' WHEN source = 'user' THEN 'episode' ELSE 'note' END)) VIRTUAL,
  title TEXT,
  project TEXT,
  domain TEXT,
  agent TEXT,
  audience TEXT NOT NULL DEFAULT 'org' CHECK (audience IN ('org', 'project', 'private')),
  diary INTEGER NOT NULL DEFAULT 0,
  status TEXT,
  weight INTEGER NOT NULL DEFAULT 3,
  pinned INTEGER NOT NULL DEFAULT 0,
  confidence REAL,
  expires_at INTEGER,
  archived INTEGER NOT NULL DEFAULT 0,
  owner TEXT,
  created_by TEXT NOT NULL,
  -- Who may read it: everyone in the org ('') or one owner.
  reader TEXT GENERATED ALWAYS AS (CASE WHEN audience = 'private' OR diary THEN coalesce(owner, created_by) ELSE '' END) VIRTUAL,
  -- Whether lists, searches and counts may show it at all; a diary page and an archived entry are read by id.
  listed INTEGER GENERATED ALWAYS AS (CASE WHEN archived OR diary THEN 0 ELSE 1 END) VIRTUAL,
  -- Bookkeeping of reads: no version, no change row.
  accessed_at INTEGER,
  access_count INTEGER NOT NULL DEFAULT 0,
  text_hash TEXT NOT NULL,
  bytes INTEGER NOT NULL, -- of text and metadata, as UTF-8
  text_words INTEGER NOT NULL, -- words that carry content, for the scorer
  image_count INTEGER NOT NULL DEFAULT 0,
  tags TEXT NOT NULL DEFAULT '[]', -- JSON, normalised and sorted
  links TEXT, -- JSON [[relation, to]]: what the metadata named and the writer could see
  images TEXT, -- JSON list of image references
  metadata TEXT, -- JSON, null when none was ever given
  summary TEXT NOT NULL DEFAULT '',
  text TEXT NOT NULL
);

CREATE INDEX entries_by_time ON entries (org, created_second, id, expires_at, reader, project) WHERE listed = 1;

CREATE INDEX entries_by_thread ON entries (org, thread_id, created_second, id, expires_at, reader, project, source) WHERE listed = 1;

CREATE INDEX entries_by_turn ON entries (org, thread_id, source, id);

CREATE INDEX entries_by_place ON entries (org, thread_id, id, expires_at, reader, project) WHERE listed = 1;

CREATE INDEX entries_with_images ON entries (org, created_second, id, expires_at, reader, project, image_count) WHERE listed = 1 AND image_count > 0;

CREATE INDEX entries_with_summary ON entries (org, id) WHERE summary <> '';

CREATE INDEX entries_by_expiry ON entries (org, expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE entry_tags (
  org TEXT NOT NULL,
  tag TEXT NOT NULL,
  entry_id INTEGER NOT NULL,
  PRIMARY KEY (org, tag, entry_id)
) WITHOUT ROWID;

CREATE INDEX entry_tags_by_entry ON entry_tags (entry_id);

CREATE TABLE image_uses (
  org TEXT NOT NULL,
  hash TEXT NOT NULL,
  entry_id INTEGER NOT NULL,
  size INTEGER NOT NULL,
  mime_type TEXT NOT NULL,
  PRIMARY KEY (org, hash, entry_id)
) WITHOUT ROWID;

CREATE INDEX image_uses_by_entry ON image_uses (entry_id);

CREATE TABLE links (
  org TEXT NOT NULL,
  from_id INTEGER NOT NULL,
  relation TEXT NOT NULL,
  to_id INTEGER NOT NULL,
  PRIMARY KEY (org, from_id, relation, to_id)
) WITHOUT ROWID;

CREATE INDEX links_by_target ON links (org, to_id, relation);

-- A monotonic log of what happened to entries. Within a batch its newest row names the entry just written.
CREATE TABLE changes (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  org TEXT NOT NULL,
  entry_id INTEGER NOT NULL,
  action TEXT NOT NULL CHECK (action IN ('store', 'update', 'delete')),
  version INTEGER NOT NULL,
  at INTEGER NOT NULL
);

-- Work that depends on another service, recorded with the write that causes it and retried until it succeeds.
CREATE TABLE outbox (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  org TEXT NOT NULL,
  topic TEXT NOT NULL,
  key TEXT NOT NULL,
  -- 'claimed': a worker is acting on it now; see image_delete in adapters/sql/outbox.ts
  state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'claimed', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  last_error TEXT,
  UNIQUE (org, topic, key)
);

CREATE INDEX outbox_by_due ON outbox (due_at);

-- What list_threads and totals read instead of the entries. One row for each thread, project and circle of readers.
CREATE TABLE thread_counters (
  org TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  project TEXT NOT NULL, -- '' for none
  reader TEXT NOT NULL,
  entries INTEGER NOT NULL,
  user_entries INTEGER NOT NULL,
  multimodal INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  words INTEGER NOT NULL,
  first_second INTEGER NOT NULL,
  last_second INTEGER NOT NULL,
  first_id INTEGER NOT NULL,
  last_id INTEGER NOT NULL,
  PRIMARY KEY (org, thread_id, project, reader)
) WITHOUT ROWID;

CREATE TABLE settings (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- A batch puts its premise here; when it no longer holds, the whole batch is rolled back.
CREATE VIEW guards AS SELECT 1 AS holds;

CREATE TRIGGER guards_check INSTEAD OF INSERT ON guards WHEN NEW.holds IS NOT 1
BEGIN
  SELECT raise(ABORT, 'commonplace: premise no longer holds');
END;

CREATE TRIGGER entries_stored AFTER INSERT ON entries
BEGIN
  INSERT INTO entry_tags (org, tag, entry_id) SELECT NEW.org, value, NEW.id FROM json_each(NEW.tags);
  INSERT OR IGNORE INTO image_uses (org, hash, entry_id, size, mime_type)
    SELECT NEW.org, value ->> 'hash', NEW.id, value ->> 'size', value ->> 'mimeType' FROM json_each(NEW.images);
  INSERT OR IGNORE INTO links (org, from_id, relation, to_id)
    SELECT NEW.org, NEW.id, value ->> 0, value ->> 1 FROM json_each(NEW.links) WHERE value ->> 1 <> NEW.id;
  INSERT INTO changes (org, entry_id, action, version, at) VALUES (NEW.org, NEW.id, 'store', NEW.version, NEW.updated_at);
END;

CREATE TRIGGER entries_changed AFTER UPDATE OF version ON entries
BEGIN
  INSERT INTO changes (org, entry_id, action, version, at) VALUES (NEW.org, NEW.id, 'update', NEW.version, NEW.updated_at);
END;

CREATE TRIGGER entries_retagged AFTER UPDATE OF tags ON entries WHEN OLD.tags IS NOT NEW.tags
BEGIN
  DELETE FROM entry_tags WHERE entry_id = NEW.id;
  INSERT INTO entry_tags (org, tag, entry_id) SELECT NEW.org, value, NEW.id FROM json_each(NEW.tags);
END;

CREATE TRIGGER entries_reillustrated AFTER UPDATE OF images ON entries WHEN OLD.images IS NOT NEW.images
BEGIN
  DELETE FROM image_uses WHERE entry_id = NEW.id;
  INSERT OR IGNORE INTO image_uses (org, hash, entry_id, size, mime_type)
    SELECT NEW.org, value ->> 'hash', NEW.id, value ->> 'size', value ->> 'mimeType' FROM json_each(NEW.images);
END;

CREATE TRIGGER entries_relinked AFTER UPDATE OF links ON entries WHEN OLD.links IS NOT NEW.links
BEGIN
  DELETE FROM links WHERE org = NEW.org AND from_id = NEW.id AND relation IN ('REFERENCES', 'supersedes', 'depends_on', 'contradicts');
  INSERT OR IGNORE INTO links (org, from_id, relation, to_id)
    SELECT NEW.org, NEW.id, value ->> 0, value ->> 1 FROM json_each(NEW.links) WHERE value ->> 1 <> NEW.id;
END;

CREATE TRIGGER entries_deleted AFTER DELETE ON entries
BEGIN
  DELETE FROM entry_tags WHERE entry_id = OLD.id;
  DELETE FROM image_uses WHERE entry_id = OLD.id;
  DELETE FROM links WHERE org = OLD.org AND from_id = OLD.id;
  DELETE FROM links WHERE org = OLD.org AND to_id = OLD.id;
  INSERT INTO changes (org, entry_id, action, version, at) VALUES (OLD.org, OLD.id, 'delete', OLD.version + 1, OLD.updated_at);
END;

-- An image that nothing else in the org uses is queued for removal by the statement that drops its last use.
CREATE TRIGGER images_unused AFTER DELETE ON image_uses
  WHEN NOT EXISTS (SELECT 1 FROM image_uses WHERE org = OLD.org AND hash = OLD.hash)
BEGIN
  INSERT INTO outbox (org, topic, key, created_at, due_at) VALUES (OLD.org, 'image_delete', OLD.hash, unixepoch() * 1000, 0)
    ON CONFLICT (org, topic, key) DO NOTHING;
END;
