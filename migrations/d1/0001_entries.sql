-- Entries, what names them in lists (tags), the images they show, and the log of what happened to them. Statements are separated by a
-- blank line; none contains one.

-- What this store knows of itself: which analysis wrote its index, how far that is, and the secret of the feed.
CREATE TABLE settings (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- A batch puts its premises here; when one no longer holds, the whole batch is rolled back. The name says what refused it.
CREATE VIEW guards AS SELECT 1 AS holds, '' AS premise;

CREATE TRIGGER guards_check INSTEAD OF INSERT ON guards WHEN NEW.holds IS NOT 1 AND NEW.premise IS NULL
BEGIN
  SELECT raise(ABORT, 'commonplace: premise no longer holds');
END;

CREATE TRIGGER guards_check_entries INSTEAD OF INSERT ON guards WHEN NEW.holds IS NOT 1 AND NEW.premise = 'MAX_ENTRIES_PER_ORG'
BEGIN
  SELECT raise(ABORT, 'commonplace: premise no longer holds: MAX_ENTRIES_PER_ORG');
END;

CREATE TRIGGER guards_check_bytes INSTEAD OF INSERT ON guards WHEN NEW.holds IS NOT 1 AND NEW.premise = 'MAX_BYTES_PER_ORG'
BEGIN
  SELECT raise(ABORT, 'commonplace: premise no longer holds: MAX_BYTES_PER_ORG');
END;

-- A write that names links happens only when all of their targets can be read.
CREATE TRIGGER guards_check_related INSTEAD OF INSERT ON guards WHEN NEW.holds IS NOT 1 AND NEW.premise = 'related_to'
BEGIN
  SELECT raise(ABORT, 'commonplace: premise no longer holds: related_to');
END;

-- Of two calls with the same key one is first.
CREATE TRIGGER guards_check_receipt INSTEAD OF INSERT ON guards WHEN NEW.holds IS NOT 1 AND NEW.premise = 'receipt'
BEGIN
  SELECT raise(ABORT, 'commonplace: premise no longer holds: receipt');
END;

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
  kind TEXT GENERATED ALWAYS AS (
    coalesce(named_kind, tag_kind, CASE WHEN work_item THEN 'task' WHEN source = 'user' THEN 'episode' ELSE 'note' END)
  ) VIRTUAL,
  title TEXT,
  project TEXT,
  domain TEXT,
  agent TEXT,
  audience TEXT NOT NULL DEFAULT 'org' CHECK (audience IN ('org', 'project', 'private')),
  diary INTEGER NOT NULL DEFAULT 0,
  status TEXT,
  confidence REAL,
  -- What metadata say of its life, what an argument or a use gave, and what the layer sets: the life cycle never writes metadata.
  named_weight INTEGER,
  given_weight INTEGER NOT NULL DEFAULT 3,
  weight INTEGER GENERATED ALWAYS AS (coalesce(named_weight, given_weight)) VIRTUAL,
  named_pinned INTEGER,
  given_pinned INTEGER NOT NULL DEFAULT 0,
  pinned INTEGER GENERATED ALWAYS AS (coalesce(named_pinned, given_pinned)) VIRTUAL,
  named_expires_at INTEGER,
  layer_expires_at INTEGER,
  expires_at INTEGER GENERATED ALWAYS AS (
    CASE WHEN named_expires_at IS NULL OR layer_expires_at < named_expires_at THEN layer_expires_at ELSE named_expires_at END
  ) VIRTUAL,
  archived INTEGER NOT NULL DEFAULT 0,
  owner TEXT,
  created_by TEXT NOT NULL,
  -- Who made the version that stands there, and whether a restoration did.
  changed_by TEXT,
  changed_agent TEXT,
  restored INTEGER NOT NULL DEFAULT 0,
  -- Who may read it: everyone in the org ('') or one owner.
  reader TEXT GENERATED ALWAYS AS (
    CASE WHEN audience = 'private' OR diary THEN coalesce(owner, created_by) ELSE '' END
  ) VIRTUAL,
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
  metadata TEXT, -- JSON as it was given, null when none ever was
  summary TEXT NOT NULL DEFAULT '',
  text TEXT NOT NULL -- empty where it stands beside the row (0002)
);

-- Lists, newest first: of all, of a thread, and of a thread by id; what scope asks stands beside, so that no row is read for it.
CREATE INDEX entries_by_time ON entries (org, created_second, id, expires_at, reader, project) WHERE listed = 1;

CREATE INDEX entries_by_thread ON entries (org, thread_id, created_second, id, expires_at, reader, project, source)
  WHERE listed = 1;

CREATE INDEX entries_by_place ON entries (org, thread_id, id, expires_at, reader, project) WHERE listed = 1;

CREATE INDEX entries_with_images ON entries (org, created_second, id, expires_at, reader, project, image_count)
  WHERE listed = 1 AND image_count > 0;

CREATE INDEX entries_by_expiry ON entries (org, expires_at) WHERE expires_at IS NOT NULL;

-- What the schedule removes next, whosever it is.
CREATE INDEX entries_expiring ON entries (expires_at) WHERE expires_at IS NOT NULL;

-- Searching through texts goes by id, newest first, whatever the filter.
CREATE INDEX entries_by_id ON entries (org, id, expires_at, reader, project) WHERE listed = 1;

-- What decay looks at, whosever it is.
CREATE INDEX entries_decaying ON entries (id) WHERE layer = 3 AND archived = 0;

-- Lists of memories: the newest of a layer, of one project or of all, with what scope, type and statistics ask.
CREATE INDEX entries_by_layer ON entries (org, layer, created_at, id, project, expires_at, reader, kind, pinned, text_words)
  WHERE listed = 1;

CREATE INDEX entries_of_project ON entries (org, project, layer, created_at, id, expires_at, reader, kind, pinned, text_words)
  WHERE listed = 1;

-- Packs: the work in flight of a project, and the diary of an agent. Names of agents may be long; their beginnings lead near enough.
CREATE INDEX entries_in_flight ON entries (org, project, updated_at, id, kind, expires_at, reader)
  WHERE listed = 1 AND status IN ('doing', 'blocked', 'review');

CREATE INDEX entries_of_diary ON entries (org, reader, substr(agent, 1, 64), created_at, id)
  WHERE diary = 1 AND archived = 0;

-- Who needs a long text (0002).
CREATE INDEX entries_by_long_text ON entries (org, text_hash) WHERE bytes > 16384;

-- What belongs to the whole org, by the two places that name its file. Their beginnings lead near enough.
CREATE INDEX entries_by_file ON entries (
    org,
    substr(
      CASE WHEN json_type(metadata, '$."fileContext"."path"') = 'text' THEN json_extract(metadata, '$."fileContext"."path"') END, 1, 256
    )
  )
  WHERE listed = 1 AND layer = 3;

CREATE INDEX entries_by_code_file ON entries (
    org,
    substr(
      CASE WHEN json_type(metadata, '$."codeBlock"."filePath"') = 'text' THEN json_extract(metadata, '$."codeBlock"."filePath"') END, 1, 256
    )
  )
  WHERE listed = 1 AND layer = 3;

-- What leaves a layer by itself, which its counters (0008) leave out.
CREATE INDEX entries_ending ON entries (org, layer, project, expires_at, reader, kind, pinned, text_words)
  WHERE listed = 1 AND expires_at IS NOT NULL;

-- The newest of each kind in a layer.
CREATE INDEX entries_of_kind ON entries (org, project, layer, kind, created_at, id, expires_at, reader) WHERE listed = 1;

CREATE INDEX entries_by_kind ON entries (org, kind, created_at, id, expires_at, reader, project) WHERE listed = 1 AND layer = 3;

-- When the first or the last entry of a thread leaves, its counters (0008) look up the next one that the same readers see: this and
-- the next index lead to it, however many entries of others the thread has.
CREATE INDEX entries_of_circle_by_time ON entries (org, thread_id, coalesce(project, ''), reader, created_second) WHERE listed = 1;

-- Entries with large metadata, by id with their sizes: filters ask so much of each that they are looked at by themselves, so that
-- others are served meanwhile.
CREATE INDEX entries_with_large_metadata ON entries (org, id, octet_length(metadata)) WHERE listed = 1 AND octet_length(metadata) > 1024;

-- The newest turn of a thread that a caller sees, by its readers and projects: a repeated store looks it up, and hundreds of thousands
-- of newer entries of others may stand in the same thread.
CREATE INDEX entries_by_circle_turn ON entries (org, thread_id, source, reader, coalesce(project, ''), id) WHERE listed = 1;

-- What of a thread lists do not show.
CREATE INDEX entries_unlisted ON entries (org, thread_id, id) WHERE listed = 0;

-- Tags, with the place of their entry and what a list asks of it, so that a list by tags reads no other row.
CREATE TABLE entry_tags (
  org TEXT NOT NULL,
  tag TEXT NOT NULL,
  layer INTEGER NOT NULL,
  project TEXT NOT NULL, -- '' for none
  entry_id INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  reader TEXT NOT NULL,
  expires_at INTEGER,
  listed INTEGER NOT NULL,
  PRIMARY KEY (org, tag, layer, project, entry_id)
) WITHOUT ROWID;

-- What has a tag, newest first. What an entry has is found by the names in its row.
CREATE INDEX entry_tags_by_time ON entry_tags (org, tag, created_at / 1000, entry_id, expires_at, reader, project) WHERE listed = 1;

CREATE TABLE image_uses (
  org TEXT NOT NULL,
  hash TEXT NOT NULL,
  entry_id INTEGER NOT NULL,
  size INTEGER NOT NULL,
  mime_type TEXT NOT NULL,
  PRIMARY KEY (org, hash, entry_id)
) WITHOUT ROWID;

CREATE INDEX image_uses_by_entry ON image_uses (entry_id);

-- The one rule of which images an org uses. A kept state uses its images too, by minus its own id (0006).
CREATE VIEW images_in_use AS SELECT org, hash FROM image_uses;

-- A log of what happened to entries, in the order of commits. Within a batch its newest row of the org names the entry just written.
CREATE TABLE changes (
  seq INTEGER PRIMARY KEY, -- never given twice, since the newest row is always kept (src/adapters/sql/stores/keeping/retention.ts)
  org TEXT NOT NULL,
  entry_id INTEGER NOT NULL,
  action TEXT NOT NULL CHECK (action IN ('store', 'update', 'delete')),
  version INTEGER NOT NULL,
  at INTEGER NOT NULL,
  -- In which call, and whose.
  change_id TEXT,
  key_id TEXT,
  agent TEXT,
  -- After the change; of a deleted entry, as it was. The reader is null where lists do not show it.
  thread_id TEXT,
  project TEXT,
  kind TEXT,
  reader TEXT,
  -- Before it; null where nothing was.
  was_thread TEXT,
  was_project TEXT,
  was_kind TEXT,
  was_reader TEXT,
  erased INTEGER NOT NULL DEFAULT 0,
  -- Who could read a deleted entry by its id, also where lists did not show it: they may have what is left of it erased.
  last_reader TEXT
);

-- An entry belongs to one org, so its changes are found by its id alone. A planner must never need statistics to know which way is
-- short.
CREATE INDEX changes_by_org ON changes (org, seq);

CREATE INDEX changes_by_entry ON changes (entry_id, org);

-- What was deleted of a thread, for whoever erases the thread.
CREATE INDEX changes_deleted_by_thread ON changes (org, was_thread, entry_id) WHERE action = 'delete' AND erased = 0;

-- Who writes in an org, which triggers cannot know. A batch that writes entries puts its row here first and takes it away last, so that
-- none outlives it. The org '' stands for work on all orgs, which is nobody's call.
CREATE TABLE writing (
  org TEXT PRIMARY KEY,
  change_id TEXT NOT NULL, -- random; one a call, shared by all it does
  key_id TEXT,
  agent TEXT,
  keeps INTEGER NOT NULL DEFAULT 0, -- whether the states before are kept
  since INTEGER NOT NULL, -- the newest row of `changes` before the batch
  at INTEGER,
  told TEXT -- what only the batch can tell its receipt
) WITHOUT ROWID;

-- What follows from an entry is made and unmade with it.
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
    SELECT NEW.org, NEW.id, 'update', NEW.version, coalesce(w.at, CAST(unixepoch('subsec') * 1000 AS INTEGER)),
      coalesce(w.change_id, lower(hex(randomblob(16)))), w.key_id, w.agent,
      NEW.thread_id, NEW.project, NEW.kind,
      CASE WHEN NEW.listed = 1 AND (NEW.expires_at IS NULL OR NEW.expires_at > NEW.updated_at) THEN NEW.reader END,
      OLD.thread_id, OLD.project, OLD.kind,
      CASE WHEN OLD.listed = 1 AND (OLD.expires_at IS NULL OR OLD.expires_at > OLD.updated_at) THEN OLD.reader END
    FROM (SELECT 1) LEFT JOIN writing w ON w.org IN (NEW.org, '');
END;

CREATE TRIGGER entries_retagged AFTER UPDATE OF
    tags, layer, project, audience, owner, diary, archived, named_kind, tag_kind, work_item, source, named_expires_at, layer_expires_at
  ON entries
  WHEN (NEW.tags, NEW.layer, NEW.project, NEW.kind, NEW.reader, NEW.expires_at, NEW.listed)
    IS NOT (OLD.tags, OLD.layer, OLD.project, OLD.kind, OLD.reader, OLD.expires_at, OLD.listed)
BEGIN
  DELETE FROM entry_tags
    WHERE org = OLD.org AND tag IN (SELECT value FROM json_each(OLD.tags))
      AND layer = OLD.layer AND project = coalesce(OLD.project, '') AND entry_id = OLD.id;
  INSERT INTO entry_tags (org, tag, layer, project, entry_id, created_at, kind, reader, expires_at, listed)
    SELECT NEW.org, value, NEW.layer, coalesce(NEW.project, ''), NEW.id, NEW.created_at, NEW.kind, NEW.reader, NEW.expires_at, NEW.listed
    FROM json_each(NEW.tags);
END;

CREATE TRIGGER entries_reillustrated AFTER UPDATE OF images ON entries WHEN OLD.images IS NOT NEW.images
BEGIN
  DELETE FROM image_uses WHERE entry_id = NEW.id;
  INSERT OR IGNORE INTO image_uses (org, hash, entry_id, size, mime_type)
    SELECT NEW.org, value ->> 'hash', NEW.id, value ->> 'size', value ->> 'mimeType' FROM json_each(NEW.images);
END;

CREATE TRIGGER entries_relinked AFTER UPDATE OF links ON entries WHEN OLD.links IS NOT NEW.links
BEGIN
  DELETE FROM links WHERE org = NEW.org AND from_id = NEW.id AND origin = 'metadata';
  INSERT OR IGNORE INTO links (org, from_id, relation, to_id, origin)
    SELECT NEW.org, NEW.id, value ->> 0, value ->> 1, 'metadata' FROM json_each(NEW.links) WHERE value ->> 1 <> NEW.id;
END;

-- A deletion has one instant, in the log and in history: that of its call. The links that lead here stay (0003), unless the entry
-- cannot come back.
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
      CASE WHEN OLD.listed = 1 AND (OLD.expires_at IS NULL OR OLD.expires_at > OLD.updated_at) THEN OLD.reader END,
      OLD.reader
    FROM (SELECT 1) LEFT JOIN writing w ON w.org IN (OLD.org, '');
END;
