-- What entries were before they were changed or deleted, how far the feed of changes goes back, and the receipts of calls that may be
-- made again.

-- A state stands here when its end was part of a call that keeps history (`writing`.keeps). Of a deleted entry, `edges` holds the links
-- that its metadata do not name.
CREATE TABLE entry_versions (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- in the order of commits
  entry_id INTEGER NOT NULL,
  -- The entry as it was; the columns are those of `entries`.
  org TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  source TEXT NOT NULL,
  layer INTEGER NOT NULL,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  named_kind TEXT,
  tag_kind TEXT,
  work_item INTEGER NOT NULL,
  title TEXT,
  project TEXT,
  domain TEXT,
  agent TEXT,
  audience TEXT NOT NULL,
  diary INTEGER NOT NULL,
  status TEXT,
  given_weight INTEGER NOT NULL,
  given_pinned INTEGER NOT NULL,
  named_weight INTEGER,
  named_pinned INTEGER,
  named_expires_at INTEGER,
  layer_expires_at INTEGER,
  confidence REAL,
  archived INTEGER NOT NULL,
  owner TEXT,
  created_by TEXT NOT NULL,
  text_hash TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  text_words INTEGER NOT NULL,
  image_count INTEGER NOT NULL,
  tags TEXT NOT NULL,
  links TEXT,
  images TEXT,
  metadata TEXT,
  summary TEXT NOT NULL,
  changed_by TEXT,
  changed_agent TEXT,
  restored INTEGER NOT NULL,
  text TEXT, -- null where the next version has the same text
  -- How it ended.
  ended_at INTEGER NOT NULL,
  ended_version INTEGER NOT NULL, -- what came next; a deletion is a version of its own
  changed INTEGER NOT NULL, -- what its end changed, as bits in the order of domain/history/version.ts
  deleted INTEGER NOT NULL,
  ended_by TEXT,
  ended_agent TEXT,
  change_id TEXT NOT NULL,
  edges TEXT, -- of a deleted entry: JSON [[from, relation, to, origin]], the links that went with it
  size INTEGER NOT NULL, -- bytes that are kept here
  kind TEXT GENERATED ALWAYS AS (
    coalesce(named_kind, tag_kind, CASE WHEN work_item = 1 THEN 'task' WHEN source = 'user' THEN 'episode' ELSE 'note' END)
  ) VIRTUAL,
  reader TEXT GENERATED ALWAYS AS (
    CASE WHEN audience = 'private' OR diary = 1 THEN coalesce(owner, created_by) ELSE '' END
  ) VIRTUAL,
  expires_at INTEGER GENERATED ALWAYS AS (
    CASE WHEN named_expires_at IS NULL OR layer_expires_at < named_expires_at THEN layer_expires_at ELSE named_expires_at END
  ) VIRTUAL
);

CREATE UNIQUE INDEX entry_versions_by_entry ON entry_versions (entry_id, version);

CREATE INDEX entry_versions_by_call ON entry_versions (org, change_id, entry_id) WHERE deleted = 1;

CREATE INDEX versions_by_long_text ON entry_versions (org, text_hash) WHERE bytes > 16384;

-- Of an org that is full the oldest kept states go first. (All have such an id: who looks for something else shall not come this way.)
CREATE INDEX versions_by_org ON entry_versions (org) WHERE id > 0;

-- What was deleted of a thread, for whoever erases the thread.
CREATE INDEX versions_deleted_by_thread ON entry_versions (org, thread_id, entry_id) WHERE deleted = 1;

-- What get_statistics tells of them, for each circle of readers.
CREATE TABLE version_counters (
  org TEXT NOT NULL,
  project TEXT NOT NULL, -- '' for none
  reader TEXT NOT NULL,
  versions INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (org, project, reader)
) WITHOUT ROWID;

-- Before the row goes, so that its images are in use without a pause.
CREATE TRIGGER versions_changed BEFORE UPDATE OF version ON entries
  WHEN EXISTS (SELECT 1 FROM writing w WHERE w.org IN (OLD.org, '') AND w.keeps = 1)
BEGIN
  INSERT INTO entry_versions (
      entry_id, text, ended_at, ended_version, changed, deleted, ended_by, ended_agent, change_id, edges, size,
      org, thread_id, source, layer, version, created_at, updated_at, named_kind, tag_kind, work_item, title,
      project, domain, agent, audience, diary, status, given_weight, given_pinned, named_weight, named_pinned,
      named_expires_at, layer_expires_at, confidence, archived, owner, created_by, text_hash, bytes, text_words,
      image_count, tags, links, images, metadata, summary, changed_by, changed_agent, restored
    )
    SELECT OLD.id, CASE WHEN OLD.text_hash <> NEW.text_hash THEN OLD.text END, NEW.updated_at, NEW.version,
      (OLD.text_hash <> NEW.text_hash)
        + 2 * (coalesce(OLD.metadata, '') <> coalesce(NEW.metadata, '')) + 4 * (OLD.tags <> NEW.tags)
        + 8 * (coalesce(OLD.images, '') <> coalesce(NEW.images, '')) + 16 * (OLD.thread_id <> NEW.thread_id)
        + 32 * (coalesce(OLD.named_kind, OLD.tag_kind, OLD.work_item) <> coalesce(NEW.named_kind, NEW.tag_kind, NEW.work_item))
        + 64 * (OLD.layer <> NEW.layer),
      0, NEW.changed_by, NEW.changed_agent, w.change_id, NULL,
      CASE WHEN OLD.text_hash <> NEW.text_hash THEN OLD.bytes ELSE coalesce(length(CAST(OLD.metadata AS BLOB)), 0) END,
      OLD.org, OLD.thread_id, OLD.source, OLD.layer, OLD.version, OLD.created_at, OLD.updated_at, OLD.named_kind,
      OLD.tag_kind, OLD.work_item, OLD.title, OLD.project, OLD.domain, OLD.agent, OLD.audience, OLD.diary,
      OLD.status, OLD.given_weight, OLD.given_pinned, OLD.named_weight, OLD.named_pinned, OLD.named_expires_at,
      OLD.layer_expires_at, OLD.confidence, OLD.archived, OLD.owner, OLD.created_by, OLD.text_hash, OLD.bytes,
      OLD.text_words, OLD.image_count, OLD.tags, OLD.links, OLD.images, OLD.metadata, OLD.summary, OLD.changed_by,
      OLD.changed_agent, OLD.restored
    FROM writing w WHERE w.org IN (OLD.org, '');
END;

CREATE TRIGGER versions_deleted BEFORE DELETE ON entries
  WHEN EXISTS (SELECT 1 FROM writing w WHERE w.org IN (OLD.org, '') AND w.keeps = 1)
BEGIN
  INSERT INTO entry_versions (
      entry_id, text, ended_at, ended_version, changed, deleted, ended_by, ended_agent, change_id, edges, size,
      org, thread_id, source, layer, version, created_at, updated_at, named_kind, tag_kind, work_item, title,
      project, domain, agent, audience, diary, status, given_weight, given_pinned, named_weight, named_pinned,
      named_expires_at, layer_expires_at, confidence, archived, owner, created_by, text_hash, bytes, text_words,
      image_count, tags, links, images, metadata, summary, changed_by, changed_agent, restored
    )
    SELECT OLD.id, OLD.text, coalesce(w.at, CAST(unixepoch('subsec') * 1000 AS INTEGER)), OLD.version + 1,
      0, 1, w.key_id, w.agent, w.change_id,
      (
        SELECT nullif(json_group_array(json_array(from_id, relation, to_id, origin)), '[]') FROM links
        WHERE org = OLD.org AND from_id = OLD.id AND origin <> 'metadata'
      ),
      OLD.bytes,
      OLD.org, OLD.thread_id, OLD.source, OLD.layer, OLD.version, OLD.created_at, OLD.updated_at, OLD.named_kind,
      OLD.tag_kind, OLD.work_item, OLD.title, OLD.project, OLD.domain, OLD.agent, OLD.audience, OLD.diary,
      OLD.status, OLD.given_weight, OLD.given_pinned, OLD.named_weight, OLD.named_pinned, OLD.named_expires_at,
      OLD.layer_expires_at, OLD.confidence, OLD.archived, OLD.owner, OLD.created_by, OLD.text_hash, OLD.bytes,
      OLD.text_words, OLD.image_count, OLD.tags, OLD.links, OLD.images, OLD.metadata, OLD.summary, OLD.changed_by,
      OLD.changed_agent, OLD.restored
    FROM writing w WHERE w.org IN (OLD.org, '');
END;

-- A kept state uses its images too: by minus its own id, which no entry has.
CREATE TRIGGER versions_illustrated AFTER INSERT ON entry_versions WHEN NEW.images IS NOT NULL
BEGIN
  INSERT OR IGNORE INTO image_uses (org, hash, entry_id, size, mime_type)
    SELECT NEW.org, value ->> 'hash', -NEW.id, value ->> 'size', value ->> 'mimeType' FROM json_each(NEW.images);
END;

CREATE TRIGGER versions_counted AFTER INSERT ON entry_versions
BEGIN
  INSERT INTO org_usage (org, part, items, bytes) VALUES (NEW.org, 'versions', 1, NEW.size)
    ON CONFLICT (org, part) DO UPDATE SET items = items + 1, bytes = bytes + excluded.bytes;
  INSERT INTO version_counters (org, project, reader, versions, bytes)
    VALUES (NEW.org, coalesce(NEW.project, ''), NEW.reader, 1, NEW.size)
    ON CONFLICT (org, project, reader) DO UPDATE SET versions = versions + 1, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER versions_forgotten AFTER DELETE ON entry_versions
BEGIN
  DELETE FROM image_uses WHERE entry_id = -OLD.id;
  UPDATE org_usage SET items = items - 1, bytes = bytes - OLD.size WHERE org = OLD.org AND part = 'versions';
  UPDATE version_counters SET versions = versions - 1, bytes = bytes - OLD.size
    WHERE org = OLD.org AND project = coalesce(OLD.project, '') AND reader = OLD.reader;
  DELETE FROM version_counters
    WHERE org = OLD.org AND project = coalesce(OLD.project, '') AND reader = OLD.reader AND versions = 0;
END;

CREATE TRIGGER long_texts_forgotten AFTER DELETE ON entry_versions WHEN OLD.bytes > 16384
BEGIN
  DELETE FROM long_texts WHERE org = OLD.org AND hash = OLD.text_hash
    AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.org = OLD.org AND e.text_hash = OLD.text_hash AND e.bytes > 16384)
    AND NOT EXISTS (SELECT 1 FROM entry_versions v WHERE v.org = OLD.org AND v.text_hash = OLD.text_hash AND v.bytes > 16384)
    AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.org = OLD.org AND o.topic = 'text' AND o.key = OLD.text_hash);
END;

CREATE TRIGGER links_forgotten AFTER DELETE ON entry_versions
BEGIN
  INSERT OR IGNORE INTO dangling_links (entry_id, org)
    SELECT OLD.entry_id, OLD.org
    WHERE EXISTS (SELECT 1 FROM links WHERE to_id = OLD.entry_id)
      AND NOT EXISTS (SELECT 1 FROM entry_versions WHERE entry_id = OLD.entry_id)
      AND NOT EXISTS (SELECT 1 FROM entries WHERE id = OLD.entry_id);
END;

-- The newest row of `changes` of an org that is no longer kept: a cursor before it would miss something.
CREATE TABLE feed_floors (
  org TEXT PRIMARY KEY,
  seq INTEGER NOT NULL
) WITHOUT ROWID;

-- What its cursors are sealed with.
INSERT INTO settings (name, value) VALUES ('feed_secret', lower(hex(randomblob(32))));

-- One row for each key that a credential gave a call, written in the batch of the call with what its answer is made of, so that the
-- call made again is answered as at first wherever the server died.
CREATE TABLE receipts (
  org TEXT NOT NULL,
  key_id TEXT NOT NULL,
  key TEXT NOT NULL,
  tool TEXT NOT NULL,
  digest TEXT NOT NULL, -- of the arguments
  change_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  effect TEXT, -- JSON [[entry id, version]] of what the call did, the first few hundred, a deletion's version negative
  changes INTEGER NOT NULL DEFAULT 0, -- how many there were
  answer TEXT, -- JSON; stands only where it tells more than what follows, or where the call wrote nothing
  erased INTEGER NOT NULL DEFAULT 0,
  notes TEXT, -- JSON of what the call had found out before its batch
  told TEXT, -- JSON of what its batch told
  text TEXT, -- a text that its answer shows, where its arguments do not hold it
  bytes INTEGER GENERATED ALWAYS AS (
    length(CAST(coalesce(effect, '') AS BLOB)) + length(CAST(coalesce(answer, '') AS BLOB)) + length(CAST(coalesce(notes, '') AS BLOB))
      + length(CAST(coalesce(told, '') AS BLOB)) + length(CAST(coalesce(text, '') AS BLOB))
  ) VIRTUAL,
  PRIMARY KEY (org, key_id, key)
) WITHOUT ROWID;

CREATE INDEX receipts_by_time ON receipts (at);

-- What is erased leads to the receipts of the calls that were about it.
CREATE INDEX receipts_by_call ON receipts (org, change_id);

CREATE TRIGGER receipts_gain AFTER INSERT ON receipts
BEGIN
  INSERT INTO org_usage (org, part, items, bytes) VALUES (NEW.org, 'receipts', 1, NEW.bytes)
    ON CONFLICT (org, part) DO UPDATE SET items = items + 1, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER receipts_change AFTER UPDATE OF effect, answer, notes, told, text ON receipts
BEGIN
  UPDATE org_usage SET bytes = bytes - OLD.bytes + NEW.bytes WHERE org = NEW.org AND part = 'receipts';
END;

CREATE TRIGGER receipts_loss AFTER DELETE ON receipts
BEGIN
  UPDATE org_usage SET items = items - 1, bytes = bytes - OLD.bytes WHERE org = OLD.org AND part = 'receipts';
END;
