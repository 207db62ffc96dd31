-- The schema of D1. Statements are separated by one blank line and contain none (migrations/README.md).
--
-- Flags are 0 and 1. Times are milliseconds since 1970. Names: an index is called after its table and columns and ends in _idx, a trigger
-- after its table, its event and the table or feature that it maintains.

-- Settings and preconditions
-- --------------------------

-- Settings of this store: the analysis that wrote the full-text index and its progress, and the secret of the change feed.
CREATE TABLE settings (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- The secret that signs the cursors of the change feed.
INSERT INTO settings (name, value) VALUES ('feed_secret', lower(hex(randomblob(32))));

-- A batch inserts its preconditions here. A false one aborts the batch, and the error carries the name of the precondition.
CREATE VIEW guards AS SELECT 1 AS holds, '' AS precondition;

CREATE TRIGGER guards_insert_check INSTEAD OF INSERT ON guards WHEN NEW.holds IS NOT 1 AND NEW.precondition IS NULL
BEGIN
  SELECT raise(ABORT, 'commonplace: precondition failed');
END;

CREATE TRIGGER guards_insert_check_related_to INSTEAD OF INSERT ON guards WHEN NEW.holds IS NOT 1 AND NEW.precondition = 'related_to'
BEGIN
  SELECT raise(ABORT, 'commonplace: precondition failed: related_to');
END;

CREATE TRIGGER guards_insert_check_receipt INSTEAD OF INSERT ON guards WHEN NEW.holds IS NOT 1 AND NEW.precondition = 'receipt'
BEGIN
  SELECT raise(ABORT, 'commonplace: precondition failed: receipt');
END;

CREATE TRIGGER guards_insert_check_projects INSTEAD OF INSERT ON guards WHEN NEW.holds IS NOT 1 AND NEW.precondition = 'projects'
BEGIN
  SELECT raise(ABORT, 'commonplace: precondition failed: projects');
END;

CREATE TRIGGER guards_insert_check_equal INSTEAD OF INSERT ON guards WHEN NEW.holds IS NOT 1 AND NEW.precondition = 'equal'
BEGIN
  SELECT raise(ABORT, 'commonplace: precondition failed: equal');
END;

CREATE TRIGGER guards_insert_check_max_bytes INSTEAD OF INSERT ON guards WHEN NEW.holds IS NOT 1 AND NEW.precondition = 'MAX_BYTES_PER_ORG'
BEGIN
  SELECT raise(ABORT, 'commonplace: precondition failed: MAX_BYTES_PER_ORG');
END;

CREATE TRIGGER guards_insert_check_max_entries INSTEAD OF INSERT ON guards
  WHEN NEW.holds IS NOT 1 AND NEW.precondition = 'MAX_ENTRIES_PER_ORG'
BEGIN
  SELECT raise(ABORT, 'commonplace: precondition failed: MAX_ENTRIES_PER_ORG');
END;

CREATE TRIGGER guards_insert_check_key_quota INSTEAD OF INSERT ON guards WHEN NEW.holds IS NOT 1 AND NEW.precondition = 'key_quota'
BEGIN
  SELECT raise(ABORT, 'commonplace: precondition failed: key_quota');
END;

-- Organizations, keys and the audit log
-- -------------------------------------

CREATE TABLE orgs (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL -- milliseconds since 1970
) WITHOUT ROWID;

-- Projects that an administrator created, renamed or merged. Other projects exist from their first entry on.
CREATE TABLE projects (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  merged_into TEXT, -- the project that its names mean now; entries keep the key that they have
  PRIMARY KEY (org, id)
) WITHOUT ROWID;

CREATE INDEX projects_merged_into_idx ON projects (org, merged_into) WHERE merged_into IS NOT NULL;

-- Names of projects: keys, remotes, folders and earlier names, in the form in which they are compared.
CREATE TABLE project_names (
  org TEXT NOT NULL,
  name TEXT NOT NULL,
  home TEXT NOT NULL, -- the key under which entries with this name are stored
  kind TEXT NOT NULL CHECK (kind IN ('short', 'remote', 'folder', 'other')),
  segment TEXT NOT NULL, -- the last segment of the name
  spelling TEXT NOT NULL, -- the key of a project that the name would have by itself
  owner TEXT NOT NULL, -- whose call used the name first; '' for none
  narrow INTEGER NOT NULL, -- attached by a narrowed key: it holds for narrowed keys alone
  seq INTEGER NOT NULL, -- the change of the directory that gave it
  created_at INTEGER NOT NULL,
  PRIMARY KEY (org, name, home)
) WITHOUT ROWID;

CREATE INDEX project_names_segment_idx ON project_names (org, segment, home);

CREATE INDEX project_names_home_idx ON project_names (org, home);

-- Each change of the directory of projects, so that it can be undone. The highest number is the version of the directory.
CREATE TABLE project_changes (
  org TEXT NOT NULL,
  seq INTEGER NOT NULL,
  at INTEGER NOT NULL,
  key_id TEXT NOT NULL,
  action TEXT NOT NULL,
  detail TEXT NOT NULL, -- JSON: what was and what is
  undone_by INTEGER, -- the number of the change that undid it
  PRIMARY KEY (org, seq)
) WITHOUT ROWID;

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  org TEXT NOT NULL,
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE, -- SHA-256 of the key, hexadecimal; the key itself is not stored
  role TEXT NOT NULL CHECK (role IN ('reader', 'writer', 'admin')),
  projects TEXT, -- JSON list; null for all projects
  agent TEXT,
  owner TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  last_used_at INTEGER,
  captures INTEGER NOT NULL DEFAULT 1, -- whether events sent with this key are captured
  email TEXT, -- address whose verified holder signs in as this key; null for none
  -- Limits of this key; null for those of the deployment alone.
  rate_limit INTEGER, -- requests a minute
  max_entries INTEGER, -- entries that it may store a day (UTC)
  counted_as TEXT -- the key whose counts it continues; null for its own
) WITHOUT ROWID;

CREATE INDEX api_keys_org_created_at_idx ON api_keys (org, created_at, id);

CREATE INDEX api_keys_org_created_by_idx ON api_keys (org, created_by);

CREATE INDEX api_keys_email_idx ON api_keys (email) WHERE email IS NOT NULL;

-- Entries that keys with a quota stored on the last day on which they stored one. The batch of each write updates its row.
CREATE TABLE key_stored_entries (
  org TEXT NOT NULL,
  key_id TEXT NOT NULL,
  day INTEGER NOT NULL, -- days since 1970, UTC
  entries INTEGER NOT NULL,
  PRIMARY KEY (org, key_id)
) WITHOUT ROWID;

-- Names of owners, including deleted ones: a name is never given to a second person, who would inherit private entries.
CREATE TABLE owners (
  org TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (org, name)
) WITHOUT ROWID;

-- The last time an owner asked for context, per project ('' for none), and the newest entry of the organization at that time.
CREATE TABLE last_seen (
  org TEXT NOT NULL,
  owner TEXT NOT NULL,
  agent TEXT NOT NULL, -- '' for a key without one
  project TEXT NOT NULL,
  session TEXT NOT NULL, -- '' for a call without one
  seen_at INTEGER NOT NULL, -- milliseconds since 1970
  last_id INTEGER NOT NULL,
  PRIMARY KEY (org, owner, agent, project, session)
) WITHOUT ROWID;

CREATE INDEX last_seen_owner_seen_at_idx ON last_seen (org, owner, seen_at);
CREATE INDEX last_seen_agent_seen_at_idx ON last_seen (org, owner, agent, project, seen_at);

-- The audit log. Numbered per organization, so that numbers reveal nothing about other organizations.
CREATE TABLE audit (
  org TEXT NOT NULL,
  seq INTEGER NOT NULL,
  at INTEGER NOT NULL,
  key_id TEXT NOT NULL,
  agent TEXT,
  action TEXT NOT NULL,
  tool TEXT,
  ids TEXT NOT NULL, -- JSON list of entry IDs
  allowed INTEGER NOT NULL CHECK (allowed IN (0, 1)),
  detail TEXT NOT NULL, -- JSON object of counts and codes, never text
  bytes INTEGER GENERATED ALWAYS AS (length(CAST(ids || detail || action || key_id AS BLOB))) VIRTUAL,
  bytes_before INTEGER NOT NULL, -- of all earlier rows of the organization
  times INTEGER, -- the number of equal denials or reads in this row; null if each call has its own row
  PRIMARY KEY (org, seq)
) WITHOUT ROWID;

-- Repeated denials and reads: the row that counts them.
CREATE INDEX audit_repeated_idx ON audit (org, key_id, action, at) WHERE times IS NOT NULL;

-- While it has a row, older rows of the audit log may be deleted. The row exists only inside the transaction of a purge.
CREATE TABLE audit_purge (before INTEGER PRIMARY KEY);

-- Entries
-- -------

CREATE TABLE entries (
  id INTEGER PRIMARY KEY, -- never reused (src/adapters/sqlite/entry-ids.ts)
  org TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  source TEXT NOT NULL CHECK (source IN ('user', 'agent')),
  layer INTEGER NOT NULL CHECK (layer IN (1, 2, 3)),
  version INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL, -- milliseconds since 1970
  updated_at INTEGER NOT NULL,
  created_second INTEGER GENERATED ALWAYS AS (created_at / 1000) VIRTUAL,
  -- Extracted from metadata by each write that changes it.
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
  -- The life cycle: named_* from metadata, given_* from arguments and use, layer_* from the layer. It never changes metadata.
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
  captured INTEGER NOT NULL DEFAULT 0, -- written by hooks and awaiting approval; such an entry is archived too
  owner TEXT,
  created_by TEXT NOT NULL,
  imported_from TEXT, -- the creator that an imported file names
  addresses_agent INTEGER NOT NULL DEFAULT 0, -- the text looks like instructions for an agent
  approved_by TEXT, -- the key of the person who approved the version below
  approved_version INTEGER,
  -- The key and agent that made the current version, and whether it was a restore.
  changed_by TEXT,
  changed_agent TEXT,
  restored INTEGER NOT NULL DEFAULT 0,
  -- The reader: '' for everyone in the organization, or one owner.
  reader TEXT GENERATED ALWAYS AS (
    CASE WHEN audience = 'private' OR diary THEN coalesce(owner, created_by) ELSE '' END
  ) VIRTUAL,
  -- Whether lists, searches and counts include it. Diary pages and archived entries are read by ID.
  listed INTEGER GENERATED ALWAYS AS (CASE WHEN archived OR diary THEN 0 ELSE 1 END) VIRTUAL,
  -- Statistics of reads, which make no version and no change.
  accessed_at INTEGER,
  access_count INTEGER NOT NULL DEFAULT 0,
  text_hash TEXT NOT NULL,
  bytes INTEGER NOT NULL, -- of text and metadata, in UTF-8
  text_words INTEGER NOT NULL, -- content words, for ranking
  image_count INTEGER NOT NULL DEFAULT 0,
  tags TEXT NOT NULL DEFAULT '[]', -- JSON list, normalized and sorted
  links TEXT, -- JSON [[relation, to]]: links in metadata whose targets the writer could read
  images TEXT, -- JSON list of image references
  metadata TEXT, -- JSON as it was sent; null if there was none
  summary TEXT NOT NULL DEFAULT '',
  text TEXT NOT NULL -- empty if the text is in long_texts
);

-- IDs up to this one are reserved by imports. AUTOINCREMENT would write a row for each new entry.
CREATE TABLE reserved_entry_ids (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  last_id INTEGER NOT NULL
);

-- Texts that look like instructions for an agent, for review.
CREATE INDEX entries_addresses_agent_idx ON entries (org, id) WHERE addresses_agent = 1;

-- Lists, newest first. These indexes contain the columns of the access check, so that lists read no row for it.
CREATE INDEX entries_created_idx ON entries (org, created_second, id, expires_at, reader, project) WHERE listed = 1;

CREATE INDEX entries_thread_created_idx ON entries (org, thread_id, created_second, id, expires_at, reader, project, source)
  WHERE listed = 1;

CREATE INDEX entries_thread_position_idx ON entries (org, thread_id, id, expires_at, reader, project) WHERE listed = 1;

CREATE INDEX entries_images_idx ON entries (org, created_second, id, expires_at, reader, project, image_count)
  WHERE listed = 1 AND image_count > 0;

-- Text scans, newest first, under any filter.
CREATE INDEX entries_org_id_idx ON entries (org, id, expires_at, reader, project) WHERE listed = 1;

-- The newest message of a thread that a caller can read, which a repeated store compares with: other readers may have stored many newer
-- ones.
CREATE INDEX entries_thread_source_reader_idx ON entries (org, thread_id, source, reader, coalesce(project, ''), id) WHERE listed = 1;

-- After a delete the thread counters look up the first and last remaining entry of the same readers by this index and the one above.
CREATE INDEX entries_thread_reader_created_idx ON entries (org, thread_id, coalesce(project, ''), reader, created_second) WHERE listed = 1;

-- Lists of memories: the newest of a layer, in one project or in all.
CREATE INDEX entries_layer_created_idx ON entries (org, layer, created_at, id, project, expires_at, reader, kind, pinned) WHERE listed = 1;

CREATE INDEX entries_project_layer_created_idx ON entries (org, project, layer, created_at, id, expires_at, reader, kind, pinned)
  WHERE listed = 1;

-- The newest memories of each kind.
CREATE INDEX entries_project_layer_kind_idx ON entries (org, project, layer, kind, created_at, id, expires_at, reader) WHERE listed = 1;

CREATE INDEX entries_kind_layer_3_idx ON entries (org, kind, created_at, id, expires_at, reader, project) WHERE listed = 1 AND layer = 3;

-- Entries that expire, which the counters of layers leave out.
CREATE INDEX entries_layer_expires_at_idx ON entries (org, layer, project, expires_at, reader, kind, pinned, text_words)
  WHERE listed = 1 AND expires_at IS NOT NULL;

-- Expired entries, which the schedule deletes organization by organization.
CREATE INDEX entries_org_expires_at_idx ON entries (org, expires_at) WHERE expires_at IS NOT NULL;

-- Entries whose weight decays, in all organizations.
CREATE INDEX entries_decay_idx ON entries (id) WHERE layer = 3 AND archived = 0;

-- Pinned memories, for the start of a session.
CREATE INDEX entries_pinned_idx ON entries (org, project, created_at, id) WHERE listed = 1 AND pinned = 1;

-- Context packs: open work of a project, and the diary of an agent. The index holds the first 64 characters of an agent's name.
CREATE INDEX entries_open_work_idx ON entries (org, project, updated_at, id, kind, expires_at, reader)
  WHERE listed = 1 AND status IN ('doing', 'blocked', 'review');

CREATE INDEX entries_diary_idx ON entries (org, reader, substr(agent, 1, 64), created_at, id)
  WHERE diary = 1 AND archived = 0;

-- Memories of the organization about a file, by the two metadata fields that name one. The index holds the first 256 characters of a
-- path.
CREATE INDEX entries_file_path_idx ON entries (
    org,
    substr(
      CASE WHEN json_type(metadata, '$."fileContext"."path"') = 'text' THEN json_extract(metadata, '$."fileContext"."path"') END, 1, 256
    )
  )
  WHERE listed = 1 AND layer = 3;

CREATE INDEX entries_code_file_path_idx ON entries (
    org,
    substr(
      CASE WHEN json_type(metadata, '$."codeBlock"."filePath"') = 'text' THEN json_extract(metadata, '$."codeBlock"."filePath"') END, 1, 256
    )
  )
  WHERE listed = 1 AND layer = 3;

-- Duplicates: memories with the same text, and problems that are reported again.
CREATE INDEX entries_text_hash_idx ON entries (org, substr(text_hash, 1, 16), layer) WHERE listed = 1;

CREATE INDEX entries_problem_idx ON entries (
    org, CASE WHEN json_type(metadata, '$."problem"') = 'text' THEN json_extract(metadata, '$."problem"') END
  )
  WHERE listed = 1 AND layer = 2
    AND CASE WHEN json_type(metadata, '$."problem"') = 'text' THEN json_extract(metadata, '$."problem"') END IS NOT NULL;

-- The entries that use a long text.
CREATE INDEX entries_long_text_idx ON entries (org, text_hash) WHERE bytes > 16384;

-- Entries with large metadata and their sizes: filters process them in chunks of their own.
CREATE INDEX entries_large_metadata_idx ON entries (org, id, octet_length(metadata)) WHERE listed = 1 AND octet_length(metadata) > 1024;

-- Archived entries that lists can show.
CREATE INDEX entries_archived_idx ON entries (org, layer, created_at, id, project) WHERE archived = 1 AND diary = 0 AND captured = 0;

-- Entries of a thread that no list shows.
CREATE INDEX entries_unlisted_thread_idx ON entries (org, thread_id, id) WHERE listed = 0;

-- Entries that no list shows, by ID, for exports.
CREATE INDEX entries_unlisted_id_idx ON entries (org, id) WHERE listed = 0;

-- Captured sessions that await approval. Those of a thread are found by entries_unlisted_thread_idx.
CREATE INDEX entries_captured_project_idx ON entries (org, project, updated_at, id) WHERE captured = 1;

-- Tags, images, links and long texts
-- ----------------------------------

-- Tags, with the columns of the entry that a list checks, so that lists by tag read no entry.
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

-- Entries with a tag, newest first. The tags of one entry are found by the names in its row.
CREATE INDEX entry_tags_created_idx ON entry_tags (org, tag, created_at / 1000, entry_id, expires_at, reader, project) WHERE listed = 1;

-- The images of entries. A stored version uses images too, with its negative ID as entry_id.
CREATE TABLE image_uses (
  org TEXT NOT NULL,
  hash TEXT NOT NULL,
  entry_id INTEGER NOT NULL,
  size INTEGER NOT NULL,
  mime_type TEXT NOT NULL,
  PRIMARY KEY (org, hash, entry_id)
) WITHOUT ROWID;

CREATE INDEX image_uses_entry_idx ON image_uses (entry_id);

-- The images that an organization uses.
CREATE VIEW images_in_use AS SELECT org, hash FROM image_uses;

-- Images whose removal has begun, so that their bytes may be missing. A write that uploaded bytes before the removal is refused.
CREATE TABLE image_removals (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- new for each removal
  org TEXT NOT NULL,
  hash TEXT NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (org, hash)
);

CREATE INDEX image_removals_at_idx ON image_removals (at);

-- Links between entries. A link is deleted with the entry that it starts from. Its target may be deleted: readers check both ends, so
-- that a delete does not touch the links of others, and a restored entry has its links again. The origin is the feature that made the
-- link; each origin has rows of its own.
CREATE TABLE links (
  org TEXT NOT NULL,
  from_id INTEGER NOT NULL,
  relation TEXT NOT NULL,
  to_id INTEGER NOT NULL,
  origin TEXT NOT NULL DEFAULT 'metadata' CHECK (origin IN ('metadata', 'remember', 'system')),
  -- The key that made the link, '' for none, null if unknown. Whether an entry supersedes another for everyone depends on it, since a
  -- later writer of the entry did not make its links.
  made_by TEXT,
  PRIMARY KEY (org, from_id, relation, to_id, origin)
) WITHOUT ROWID;

-- Links to an entry, in the order of a context pack.
CREATE INDEX links_target_idx ON links (to_id, from_id);

-- Links that supersede or contradict an entry.
CREATE INDEX links_conflicts_idx ON links (to_id, relation, from_id) WHERE relation = 'supersedes' OR relation = 'contradicts';

-- Deleted entries that cannot be restored although links lead to them. The schedule deletes these links in chunks.
CREATE TABLE dangling_links (
  entry_id INTEGER PRIMARY KEY,
  org TEXT NOT NULL
);

-- Texts of more than 16,384 bytes, by hash (src/domain/entry/long-text.ts), so that updates of an entry do not rewrite them and versions
-- share them. A call that writes many megabytes stores its texts first; a row of the outbox (topic 'text') preserves them until the
-- entry exists.
CREATE TABLE long_texts (
  org TEXT NOT NULL,
  hash TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (org, hash)
);

-- The first 60,000 characters of texts of more than 100,000 (src/domain/entry/long-text.ts): SQLite reads all of a text to cut it.
CREATE TABLE text_previews (
  org TEXT NOT NULL,
  hash TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (org, hash)
);

-- The length of a long text and the offsets of its lines. A row is valid for the text with this hash; short texts have none.
CREATE TABLE text_line_index (
  entry_id INTEGER PRIMARY KEY,
  text_hash TEXT NOT NULL,
  chars INTEGER NOT NULL,
  lines INTEGER NOT NULL,
  starts TEXT NOT NULL -- JSON list of offsets
);

-- Change log, history and receipts
-- --------------------------------

-- The log of changes to entries, in the order of commits. Within a batch the newest row of an organization is the entry just written.
CREATE TABLE changes (
  org TEXT NOT NULL,
  seq INTEGER NOT NULL, -- from 1 in each organization; never reused: its newest row is always retained
  entry_id INTEGER NOT NULL,
  action TEXT NOT NULL CHECK (action IN ('store', 'update', 'delete')),
  version INTEGER NOT NULL,
  at INTEGER NOT NULL,
  -- The call, its key and agent.
  change_id TEXT,
  key_id TEXT,
  agent TEXT,
  -- The entry after the change; for a delete, as it was. The reader is null if lists do not show it.
  thread_id TEXT,
  project TEXT,
  kind TEXT,
  reader TEXT,
  -- The entry before the change; null for a new entry.
  was_thread TEXT,
  was_project TEXT,
  was_kind TEXT,
  was_reader TEXT,
  erased INTEGER NOT NULL DEFAULT 0,
  -- The reader of a deleted entry, also if lists did not show it: this reader may erase its history.
  last_reader TEXT,
  PRIMARY KEY (org, seq)
) WITHOUT ROWID;

-- The changes of an entry, by its ID alone, which is unique in the database.
CREATE INDEX changes_entry_idx ON changes (entry_id);

-- Deleted entries of a thread, for erasure.
CREATE INDEX changes_deleted_thread_idx ON changes (org, was_thread, entry_id) WHERE action = 'delete' AND erased = 0;

-- The newest row of the change log that was purged, per organization. Older cursors have expired.
CREATE TABLE feed_retention (
  org TEXT PRIMARY KEY,
  purged_seq INTEGER NOT NULL
) WITHOUT ROWID;

-- The call that writes, for triggers. Each batch that writes entries begins with its row, which stays until the next batch of the
-- organization, since a delete is a row written too.
CREATE TABLE write_context (
  org TEXT PRIMARY KEY,
  change_id TEXT NOT NULL, -- random; one per call
  key_id TEXT,
  agent TEXT,
  retain_versions INTEGER NOT NULL DEFAULT 0, -- whether past versions are stored
  after_seq INTEGER NOT NULL, -- the newest row of `changes` before the batch
  at INTEGER,
  batch_output TEXT, -- JSON of what the batch found out, for the receipt; exists only within the batch
  -- The usage of the organization before the batch, where it has quotas: a write that adds nothing is never refused.
  items_before INTEGER,
  bytes_before INTEGER
) WITHOUT ROWID;

-- Entries of a call that deletes more than one transaction can: invisible from its commit on, and removed in chunks.
CREATE TABLE pending_deletes (
  entry_id INTEGER PRIMARY KEY,
  org TEXT NOT NULL,
  part INTEGER NOT NULL, -- from 1; one part is one transaction
  -- The call, as in `write_context`.
  change_id TEXT NOT NULL,
  key_id TEXT,
  agent TEXT,
  at INTEGER,
  retain_versions INTEGER NOT NULL,
  erase_history INTEGER NOT NULL -- whether their history is erased too
);

CREATE INDEX pending_deletes_change_idx ON pending_deletes (org, change_id, part);

-- Past versions of entries, where history is retained (write_context.retain_versions).
CREATE TABLE entry_versions (
  id INTEGER PRIMARY KEY, -- in the order of commits
  entry_id INTEGER NOT NULL,
  -- The entry as it was, with the columns of `entries`.
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
  imported_from TEXT,
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
  text TEXT, -- null if the next version has the same text
  -- The change that ended the version.
  ended_at INTEGER NOT NULL,
  ended_version INTEGER NOT NULL, -- the next version; a delete is a version too
  changed INTEGER NOT NULL, -- bits in the order of src/domain/history/version.ts
  deleted INTEGER NOT NULL,
  ended_by TEXT,
  ended_agent TEXT,
  change_id TEXT NOT NULL,
  edges TEXT, -- for a deleted entry: JSON [[from, relation, to, origin, made_by]], its deleted links
  size INTEGER NOT NULL, -- bytes stored in this row
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

CREATE UNIQUE INDEX entry_versions_entry_version_idx ON entry_versions (entry_id, version);

CREATE INDEX entry_versions_deleted_change_idx ON entry_versions (org, change_id, entry_id) WHERE deleted = 1;

CREATE INDEX entry_versions_long_text_idx ON entry_versions (org, text_hash) WHERE bytes > 16384;

-- The oldest versions of an organization, which are deleted first when it is full. The condition is always true: it prevents other
-- queries from using this index.
CREATE INDEX entry_versions_org_idx ON entry_versions (org) WHERE id > 0;

-- Deleted entries of a thread, for erasure.
CREATE INDEX entry_versions_deleted_thread_idx ON entry_versions (org, thread_id, entry_id) WHERE deleted = 1;

-- Deleted entries by ID, for exports.
CREATE INDEX entry_versions_deleted_entry_idx ON entry_versions (org, entry_id) WHERE deleted = 1;

-- Idempotency keys: the outcome of each call with a key, written in the batch of the call, so that a repeated call gets the same answer.
CREATE TABLE receipts (
  org TEXT NOT NULL,
  key_id TEXT NOT NULL,
  key TEXT NOT NULL,
  tool TEXT NOT NULL,
  digest TEXT NOT NULL, -- of the arguments
  change_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  effect TEXT, -- JSON [[entry ID, version]], the first few hundred; negative versions are deletes
  changes INTEGER NOT NULL DEFAULT 0, -- the number of changes
  answer TEXT, -- JSON; only if the columns below do not contain it, or if the call wrote nothing
  erased INTEGER NOT NULL DEFAULT 0,
  notes TEXT, -- JSON of what the call found out before its batch
  batch_output TEXT, -- JSON of what the batch found out
  text TEXT, -- a text of the answer that is not in the arguments
  bytes INTEGER GENERATED ALWAYS AS (
    length(CAST(coalesce(effect, '') AS BLOB)) + length(CAST(coalesce(answer, '') AS BLOB)) + length(CAST(coalesce(notes, '') AS BLOB))
      + length(CAST(coalesce(batch_output, '') AS BLOB)) + length(CAST(coalesce(text, '') AS BLOB))
  ) VIRTUAL,
  PRIMARY KEY (org, key_id, key)
) WITHOUT ROWID;

CREATE INDEX receipts_at_idx ON receipts (at);

-- Erasure finds the receipts of the calls that wrote an entry.
CREATE INDEX receipts_change_idx ON receipts (org, change_id);

-- Full-text search
-- ----------------

-- The full-text index. It holds terms and no copy of the text: words are already folded and stemmed (src/domain/search/analysis.ts), so
-- that the tokenizer only splits at spaces. The categories include the combining marks of words. The column `written` holds words as
-- they are written, for prefix searches.
CREATE VIRTUAL TABLE entries_fts USING fts5(
  scope, title, body, code, context, written,
  content = '', contentless_delete = 1,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
);

-- Deletes never wait for a merge.
INSERT INTO entries_fts (entries_fts, rank) VALUES ('deletemerge', 0);

-- The schedule merges segments two at a time, since a search reads each word in every segment (src/adapters/sqlite/dialect.ts).
INSERT INTO entries_fts (entries_fts, rank) VALUES ('usermerge', 2);

-- The words of the full-text index, one row per occurrence.
CREATE VIRTUAL TABLE entries_words USING fts5vocab(entries_fts, instance);

-- Patterns, procedures and rules with their languages and files, in narrow rows. The kinds are those of domain/recall/current.ts. A path
-- of more than 1,024 characters is ignored.
CREATE TABLE patterns (
  org TEXT NOT NULL,
  layer INTEGER NOT NULL,
  project TEXT NOT NULL, -- '' for none
  entry_id INTEGER NOT NULL,
  reader TEXT NOT NULL,
  expires_at INTEGER,
  language TEXT NOT NULL, -- in lower case, the first 100 characters
  file TEXT,
  folder TEXT, -- up to and including the last / or \
  ending TEXT, -- without the dot, in lower case
  code_file TEXT,
  code_folder TEXT,
  code_ending TEXT,
  PRIMARY KEY (org, layer, project, entry_id)
) WITHOUT ROWID;

CREATE INDEX patterns_entry_idx ON patterns (entry_id);

-- The rows that `patterns` must have.
CREATE VIEW pattern_rows AS
  SELECT named.org, named.layer, named.project, named.entry_id, named.reader, named.expires_at,
    lower(substr(named.language, 1, 100)) AS language,
    named.file, named.folder,
    CASE WHEN instr(named.name, '.') > 0
      THEN lower(substr(named.name, length(rtrim(named.name, replace(named.name, '.', ''))) + 1)) END AS ending,
    named.code_file, named.code_folder,
    CASE WHEN instr(named.code_name, '.') > 0
      THEN lower(substr(named.code_name, length(rtrim(named.code_name, replace(named.code_name, '.', ''))) + 1)) END AS code_ending
  FROM (
    SELECT cut.*, substr(cut.file, length(cut.folder) + 1) AS name, substr(cut.code_file, length(cut.code_folder) + 1) AS code_name
    FROM (
      SELECT given.*,
        rtrim(given.file, replace(replace(given.file, '/', ''), '\', '')) AS folder,
        rtrim(given.code_file, replace(replace(given.code_file, '/', ''), '\', '')) AS code_folder
      FROM (
        SELECT e.org, e.layer, coalesce(e.project, '') AS project, e.id AS entry_id, e.reader, e.expires_at,
          coalesce(
            CASE WHEN json_type(e.metadata, '$.codeBlock.language') = 'text' THEN json_extract(e.metadata, '$.codeBlock.language') END,
            CASE WHEN json_type(e.metadata, '$.fileContext.language') = 'text' THEN json_extract(e.metadata, '$.fileContext.language') END,
            'text'
          ) AS language,
          CASE WHEN json_type(e.metadata, '$.fileContext.path') = 'text' AND length(json_extract(e.metadata, '$.fileContext.path')) <= 1024
            THEN json_extract(e.metadata, '$.fileContext.path') END AS file,
          CASE WHEN json_type(e.metadata, '$.codeBlock.filePath') = 'text'
            AND length(json_extract(e.metadata, '$.codeBlock.filePath')) <= 1024
            THEN json_extract(e.metadata, '$.codeBlock.filePath') END AS code_file
        FROM entries e
        WHERE e.listed = 1 AND e.layer IN (2, 3)
          AND e.kind IN ('pattern', 'procedure', 'template', 'tool', 'code_pattern', 'rule', 'guide', 'convention')
      ) given
    ) cut
  ) named;

-- Vectors
-- -------

-- Embeddings, one row per chunk of a text. Every vector index is rebuilt from them. The columns of the access check are copied from the
-- entry, so that a search in one project does not read the vectors of others.
CREATE TABLE entry_vectors (
  id INTEGER PRIMARY KEY, -- never reused: a changed text gets new rows
  org TEXT NOT NULL,
  entry_id INTEGER NOT NULL,
  model TEXT NOT NULL, -- model and dimensions (src/domain/meaning/vector.ts)
  chunk INTEGER NOT NULL,
  start INTEGER NOT NULL, -- in code points of the text
  length INTEGER NOT NULL,
  layer INTEGER, -- null if no list shows the entry
  project TEXT, -- '' for none
  reader TEXT,
  data TEXT NOT NULL, -- scale and int8 values as text, because D1 returns a BLOB as an array of numbers
  UNIQUE (entry_id, model, chunk)
);

CREATE INDEX entry_vectors_org_model_idx ON entry_vectors (org, model, id);

-- The highest ID of a deleted vector that was the newest. AUTOINCREMENT would write a row for each new vector.
CREATE TABLE highest_removed_vector (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  id INTEGER NOT NULL
);

-- Deleted vectors that an external vector index must still delete.
CREATE TABLE vector_removals (
  org TEXT NOT NULL,
  id INTEGER NOT NULL, -- never reused: the newest row of the organization is always retained
  vector_id INTEGER NOT NULL,
  PRIMARY KEY (org, id)
) WITHOUT ROWID;

-- Usage and counters
-- ------------------
-- Triggers maintain these tables, so that totals and statistics cost the same in a store of any size. Rows are counted by access scope:
-- project and reader.

-- Items and bytes per organization and part: images, receipts, code and capture. An image counts once per organization. The part audit
-- holds what repeated calls added to rows of the audit log other than the newest.
CREATE TABLE usage_counters (
  org TEXT NOT NULL,
  part TEXT NOT NULL,
  items INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (org, part)
) WITHOUT ROWID;

-- Totals of each thread, for lists of threads.
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

-- Threads as resources, last used first.
CREATE INDEX thread_counters_last_used_idx ON thread_counters (org, last_second, last_id, reader, project);

-- Entries without an expiry, by layer, kind and pin. Entries with an expiry are counted by the query.
CREATE TABLE layer_counters (
  org TEXT NOT NULL,
  layer INTEGER NOT NULL,
  project TEXT NOT NULL, -- '' for none
  reader TEXT NOT NULL,
  kind TEXT NOT NULL,
  pinned INTEGER NOT NULL,
  entries INTEGER NOT NULL,
  words INTEGER NOT NULL,
  first_id INTEGER NOT NULL, -- the range of their IDs, which may be too wide
  last_id INTEGER NOT NULL,
  PRIMARY KEY (org, layer, project, reader, kind, pinned)
) WITHOUT ROWID;

-- Totals of entries, for get_statistics and quotas: of those that lists show, and of the others.
CREATE TABLE entry_counters (
  org TEXT NOT NULL,
  project TEXT NOT NULL, -- '' for none
  reader TEXT NOT NULL,
  listed INTEGER NOT NULL,
  entries INTEGER NOT NULL,
  user_entries INTEGER NOT NULL,
  multimodal INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  images INTEGER NOT NULL,
  summaries INTEGER NOT NULL,
  PRIMARY KEY (org, project, reader, listed)
) WITHOUT ROWID;

CREATE TABLE tag_counters (
  org TEXT NOT NULL,
  tag TEXT NOT NULL,
  project TEXT NOT NULL,
  reader TEXT NOT NULL,
  uses INTEGER NOT NULL,
  PRIMARY KEY (org, tag, project, reader)
) WITHOUT ROWID;

-- Totals of vectors, for get_statistics.
CREATE TABLE vector_counters (
  org TEXT NOT NULL,
  project TEXT NOT NULL,
  reader TEXT NOT NULL,
  model TEXT NOT NULL,
  entries INTEGER NOT NULL, -- entries with a first chunk
  vectors INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (org, project, reader, model)
) WITHOUT ROWID;

-- Totals of versions, for get_statistics.
CREATE TABLE version_counters (
  org TEXT NOT NULL,
  project TEXT NOT NULL, -- '' for none
  reader TEXT NOT NULL,
  versions INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (org, project, reader)
) WITHOUT ROWID;

-- The usage of an organization. Entries and versions are sums of their counters. The audit log is the difference between its newest and
-- its oldest row. So a write updates no row for them.
CREATE VIEW org_usage AS
  SELECT org, part, items, bytes FROM usage_counters WHERE part <> 'audit'
  UNION ALL SELECT org, 'entries', sum(entries), sum(bytes) FROM entry_counters GROUP BY org
  UNION ALL SELECT org, 'versions', sum(versions), sum(bytes) FROM version_counters GROUP BY org
  UNION ALL SELECT newest.org, 'audit', newest.seq - oldest.seq + 1,
      newest.bytes_before + newest.bytes - oldest.bytes_before + coalesce(added.bytes, 0)
    FROM audit newest JOIN audit oldest ON oldest.org = newest.org
      LEFT JOIN usage_counters added ON added.org = newest.org AND added.part = 'audit'
    WHERE newest.seq = (SELECT max(a.seq) FROM audit a WHERE a.org = newest.org)
      AND oldest.seq = (SELECT min(a.seq) FROM audit a WHERE a.org = newest.org);

-- A call that stores many entries counts them once: while this table has a row, entries of the organization above the ID are not
-- counted; the delete of the row counts them, in the same transaction. No such entry is changed or deleted before. Threads are counted
-- at once, because the next entry of the batch looks up the last message.
CREATE TABLE deferred_counts (
  org TEXT PRIMARY KEY,
  above_id INTEGER NOT NULL
) WITHOUT ROWID;

-- How much each key is used, per day and project, for administrators. Isolates add their counts once a minute. Work that belongs to no key
-- (the schedule, pages, refused requests) has the organization ''.
CREATE TABLE key_usage (
  org TEXT NOT NULL,
  day INTEGER NOT NULL, -- days since 1970, UTC
  key_id TEXT NOT NULL,
  project TEXT NOT NULL, -- '' for none
  requests INTEGER NOT NULL, -- of HTTP; a run of the schedule is one
  calls INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  entries INTEGER NOT NULL, -- stored or changed
  rows_read INTEGER NOT NULL,
  rows_written INTEGER NOT NULL,
  tokens INTEGER NOT NULL, -- of the answers, at four characters each
  PRIMARY KEY (org, day, key_id, project)
) WITHOUT ROWID;

CREATE INDEX key_usage_day_idx ON key_usage (day);

-- Background work
-- ---------------

-- Work that depends on another service, written with the change that causes it and retried until it succeeds. A lease carries a token; a
-- worker without the current token cannot finish the work.
CREATE TABLE outbox (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  org TEXT NOT NULL,
  topic TEXT NOT NULL,
  key TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'claimed', 'failed')), -- 'claimed': a worker holds the lease
  attempts INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  last_error TEXT,
  token TEXT, -- of the last lease
  UNIQUE (org, topic, key)
);

CREATE INDEX outbox_topic_due_at_idx ON outbox (topic, due_at, id);

-- Conditions that were reported to the webhook of the operator, while they hold.
CREATE TABLE sent_notices (
  org TEXT NOT NULL,
  event TEXT NOT NULL,
  key_id TEXT NOT NULL, -- '' for an event of the organization
  at INTEGER NOT NULL, -- milliseconds since 1970
  PRIMARY KEY (org, event, key_id)
) WITHOUT ROWID;

-- The progress of each step of the schedule.
CREATE TABLE schedule (
  step TEXT PRIMARY KEY,
  cursor TEXT, -- the start of the next chunk; null for the beginning
  finished_at INTEGER, -- when all of it was last processed
  failures INTEGER NOT NULL DEFAULT 0, -- since the last success
  last_error TEXT
) WITHOUT ROWID;

-- Calls of a chat model by background work, per day (UTC), so that the daily limit holds for all isolates.
CREATE TABLE model_calls (
  day INTEGER PRIMARY KEY, -- days since 1970
  calls INTEGER NOT NULL
);

-- Currency (docs/contracts/core.md §2.1)
-- --------------------------------------

-- Pairs of memories on one subject, of which the later one may replace the earlier one. A pair may outlive its memories: readers check
-- both, and the schedule deletes it.
CREATE TABLE memory_pairs (
  org TEXT NOT NULL,
  later_id INTEGER NOT NULL,
  earlier_id INTEGER NOT NULL,
  verdict TEXT CHECK (verdict IN ('replaces', 'contradicts', 'both_hold')), -- null until a judgement
  judged TEXT, -- the contents of both that the verdict is about (src/domain/currency/pair.ts)
  attempts INTEGER NOT NULL DEFAULT 0, -- of the model
  due_at INTEGER, -- when the model may judge it; null if judged or given up
  PRIMARY KEY (org, later_id, earlier_id)
) WITHOUT ROWID;

CREATE INDEX memory_pairs_due_at_idx ON memory_pairs (due_at) WHERE due_at IS NOT NULL;

-- Source code
-- -----------
-- A file that changes is a new row with a new ID; all that was derived from it is deleted with the old row.

-- Counters of each project that has code.
CREATE TABLE code_projects (
  org TEXT NOT NULL,
  project TEXT NOT NULL,
  files INTEGER NOT NULL DEFAULT 0,
  symbols INTEGER NOT NULL DEFAULT 0,
  chunks INTEGER NOT NULL DEFAULT 0,
  words INTEGER NOT NULL DEFAULT 0, -- content words of the chunks in the word index
  bytes INTEGER NOT NULL DEFAULT 0,
  pending INTEGER NOT NULL DEFAULT 0, -- files without vectors
  last_indexed INTEGER, -- the last upload, in milliseconds since 1970
  PRIMARY KEY (org, project)
) WITHOUT ROWID;

CREATE TABLE code_files (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused
  org TEXT NOT NULL,
  project TEXT NOT NULL,
  root TEXT NOT NULL, -- the folder or repository of the path; '' for none
  path TEXT NOT NULL,
  language TEXT NOT NULL,
  sha256 TEXT NOT NULL, -- of the content as sent, before secrets were removed
  model TEXT, -- of its vectors; '' if none are wanted, null while they are pending
  bytes INTEGER NOT NULL,
  symbols INTEGER NOT NULL,
  chunks INTEGER NOT NULL,
  words INTEGER NOT NULL,
  UNIQUE (org, project, root, path)
);

CREATE INDEX code_files_pending_idx ON code_files (id) WHERE model IS NULL;

CREATE TABLE code_chunks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  org TEXT NOT NULL,
  project TEXT NOT NULL,
  file_id INTEGER NOT NULL,
  n INTEGER NOT NULL, -- position in the file, from 0
  line_start INTEGER NOT NULL, -- from 1, overlap included
  line_end INTEGER NOT NULL,
  overlap TEXT NOT NULL, -- lines of the previous chunk
  text TEXT NOT NULL, -- lines of this chunk alone
  folded TEXT, -- the text in lower case, if it has letters other than A-Z
  UNIQUE (file_id, n)
);

-- Narrow rows, in the order of the project, because a search for a part of a name reads all of them.
CREATE TABLE code_symbols (
  org TEXT NOT NULL,
  project TEXT NOT NULL,
  file_id INTEGER NOT NULL,
  n INTEGER NOT NULL,
  kind INTEGER NOT NULL, -- index in SYMBOL_KINDS
  name TEXT NOT NULL,
  folded TEXT NOT NULL,
  parts TEXT NOT NULL, -- the words of a camelCase or snake_case name in lower case, each after a space
  path TEXT NOT NULL,
  language TEXT NOT NULL,
  line_start INTEGER NOT NULL,
  PRIMARY KEY (org, project, file_id, n)
) WITHOUT ROWID;

CREATE TABLE code_symbol_texts (
  file_id INTEGER NOT NULL,
  n INTEGER NOT NULL,
  line_end INTEGER NOT NULL,
  signature TEXT NOT NULL,
  doc TEXT NOT NULL,
  PRIMARY KEY (file_id, n)
) WITHOUT ROWID;

-- Embeddings of chunks, several per row, one per line of `data`, because a search compares all of a project.
CREATE TABLE code_vectors (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  org TEXT NOT NULL,
  project TEXT NOT NULL,
  model TEXT NOT NULL,
  file_id INTEGER NOT NULL,
  first INTEGER NOT NULL, -- chunk of the first line
  count INTEGER NOT NULL,
  data TEXT NOT NULL
);

CREATE INDEX code_vectors_project_idx ON code_vectors (org, project, model, id, count);

CREATE INDEX code_vectors_file_idx ON code_vectors (file_id);

-- Trigrams of each file, and words of each chunk. Every term begins with its project, so that a search never reads those of another
-- project.
CREATE VIRTUAL TABLE code_grams USING fts5(
  grams,
  content = '', contentless_delete = 1, detail = none,
  tokenize = 'ascii'
);

CREATE VIRTUAL TABLE code_words USING fts5(
  words,
  content = '', contentless_delete = 1, detail = none,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
);

-- Captured sessions (docs/contracts/capture.md)
-- ---------------------------------------------

-- The events of a session, by owner.
CREATE TABLE capture_sessions (
  org TEXT NOT NULL,
  owner TEXT NOT NULL,
  session TEXT NOT NULL, -- '<client>:<id>', as in the name of its thread
  revision INTEGER NOT NULL, -- incremented by each request, to detect concurrent requests
  project TEXT NOT NULL, -- '' for none
  key_id TEXT NOT NULL, -- of the last event
  agent TEXT,
  state TEXT NOT NULL, -- JSON (src/domain/capture/session-state.ts)
  written TEXT, -- JSON of the last checkpoint: what, when, and the entry
  entry_id INTEGER, -- the entry of the session
  seen_at INTEGER NOT NULL, -- time of the last event
  claimed_at INTEGER, -- when a worker began to write it
  due_at INTEGER, -- when the schedule writes it; null if there is nothing to write
  PRIMARY KEY (org, owner, session)
) WITHOUT ROWID;

CREATE INDEX capture_sessions_due_at_idx ON capture_sessions (due_at) WHERE due_at IS NOT NULL;

-- Events that arrived, with the text that was returned.
CREATE TABLE capture_events (
  org TEXT NOT NULL,
  owner TEXT NOT NULL,
  id TEXT NOT NULL,
  at INTEGER NOT NULL,
  output TEXT, -- the returned text; null for none
  PRIMARY KEY (org, owner, id)
) WITHOUT ROWID;

-- Returned texts contain words of entries, which may be erased.
CREATE INDEX capture_events_output_idx ON capture_events (org) WHERE output IS NOT NULL;

-- The digest of the text that the last session of an owner got at its start, per project and branch.
CREATE TABLE capture_start_digests (
  org TEXT NOT NULL,
  owner TEXT NOT NULL,
  place TEXT NOT NULL, -- project and branch as JSON
  digest TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (org, owner, place)
) WITHOUT ROWID;

-- What sessions did with the memories that were shown to them or that they opened: one row a session, without any words.
CREATE TABLE session_memories (
  org TEXT NOT NULL,
  owner TEXT NOT NULL,
  session TEXT NOT NULL, -- '<client>:<id>'
  project TEXT NOT NULL, -- '' for none
  at INTEGER NOT NULL, -- when it was last written
  memories TEXT NOT NULL, -- JSON of [entry id, bits] (src/domain/capture/usage.ts)
  PRIMARY KEY (org, owner, session)
) WITHOUT ROWID;

-- Export and import (docs/contracts/operate.md §2)
-- ------------------------------------------------

-- The random name of the store of an organization, which distinguishes its IDs from those of other stores.
CREATE TABLE transfer_stores (
  org TEXT PRIMARY KEY,
  store TEXT NOT NULL
) WITHOUT ROWID;

-- The ID of each imported entry in its source. The row is written before the entry, so that an interrupted import continues with the
-- same IDs.
CREATE TABLE imported (
  org TEXT NOT NULL,
  store TEXT NOT NULL,
  their_id TEXT NOT NULL,
  owner TEXT NOT NULL, -- of the import; '' for ADMIN_TOKEN and open mode
  entry_id INTEGER NOT NULL,
  version INTEGER NOT NULL, -- after the import; 0 before it
  at INTEGER NOT NULL, -- of the newest file with this entry, in milliseconds since 1970
  PRIMARY KEY (org, store, their_id, owner)
) WITHOUT ROWID;

CREATE INDEX imported_entry_idx ON imported (entry_id);

-- References of imported entries to entries that were not imported yet.
CREATE TABLE import_references (
  org TEXT NOT NULL,
  store TEXT NOT NULL,
  their_id TEXT NOT NULL, -- of the missing entry
  entry_id INTEGER NOT NULL, -- the entry with the reference
  relation TEXT NOT NULL, -- '' for an ID in metadata
  origin TEXT NOT NULL, -- '' for an ID in metadata
  PRIMARY KEY (org, store, their_id, entry_id, relation, origin)
) WITHOUT ROWID;

CREATE INDEX import_references_entry_idx ON import_references (entry_id);

-- Triggers on entries
-- -------------------
-- The name of a trigger is its table, its event and the table or feature that it maintains. No trigger depends on the order of the
-- triggers of one event.

-- Tags, images, links and the row of the change log.
CREATE TRIGGER entries_insert_derived_rows AFTER INSERT ON entries
BEGIN
  INSERT INTO entry_tags (org, tag, layer, project, entry_id, created_at, kind, reader, expires_at, listed)
    SELECT NEW.org, value, NEW.layer, coalesce(NEW.project, ''), NEW.id, NEW.created_at, NEW.kind, NEW.reader, NEW.expires_at, NEW.listed
    FROM json_each(NEW.tags);
  INSERT OR IGNORE INTO image_uses (org, hash, entry_id, size, mime_type)
    SELECT NEW.org, value ->> 'hash', NEW.id, value ->> 'size', value ->> 'mimeType' FROM json_each(NEW.images);
  INSERT OR IGNORE INTO links (org, from_id, relation, to_id, origin, made_by)
    SELECT NEW.org, NEW.id, value ->> 0, value ->> 1, 'metadata', coalesce(NEW.changed_by, NEW.created_by, '')
    FROM json_each(NEW.links) WHERE value ->> 1 <> NEW.id;
  INSERT INTO changes (org, seq, entry_id, action, version, at, change_id, key_id, agent, thread_id, project, kind, reader)
    SELECT NEW.org, coalesce((SELECT max(seq) FROM changes WHERE org = NEW.org), 0) + 1, NEW.id, 'store', NEW.version, NEW.updated_at,
      coalesce(w.change_id, lower(hex(randomblob(16)))), NEW.changed_by, NEW.changed_agent,
      NEW.thread_id, NEW.project, NEW.kind,
      CASE WHEN (NEW.listed = 1 OR NEW.captured = 1) AND (NEW.expires_at IS NULL OR NEW.expires_at > NEW.updated_at) THEN NEW.reader END
    FROM (SELECT 1) LEFT JOIN write_context w ON w.org = NEW.org;
END;

CREATE TRIGGER entries_insert_thread_counters AFTER INSERT ON entries WHEN NEW.listed = 1
BEGIN
  INSERT INTO thread_counters (org, thread_id, project, reader, entries, user_entries, multimodal,
    bytes, words, first_second, last_second, first_id, last_id)
    VALUES (NEW.org, NEW.thread_id, coalesce(NEW.project, ''), NEW.reader, 1, NEW.source = 'user', NEW.image_count > 0,
      NEW.bytes, NEW.text_words, NEW.created_second, NEW.created_second, NEW.id, NEW.id)
    ON CONFLICT (org, thread_id, project, reader) DO UPDATE SET
      entries = entries + 1, user_entries = user_entries + excluded.user_entries, multimodal = multimodal + excluded.multimodal,
      bytes = bytes + excluded.bytes, words = words + excluded.words,
      first_second = min(first_second, excluded.first_second), last_second = max(last_second, excluded.last_second),
      first_id = min(first_id, excluded.first_id), last_id = max(last_id, excluded.last_id);
END;

CREATE TRIGGER entries_insert_layer_counters AFTER INSERT ON entries WHEN NEW.listed = 1 AND NEW.expires_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM deferred_counts l WHERE l.org = NEW.org AND l.above_id < NEW.id)
BEGIN
  INSERT INTO layer_counters (org, layer, project, reader, kind, pinned, entries, words, first_id, last_id)
    VALUES (NEW.org, NEW.layer, coalesce(NEW.project, ''), NEW.reader, NEW.kind, NEW.pinned, 1, NEW.text_words, NEW.id, NEW.id)
    ON CONFLICT (org, layer, project, reader, kind, pinned) DO UPDATE SET
      entries = entries + 1, words = words + excluded.words,
      first_id = min(first_id, excluded.first_id), last_id = max(last_id, excluded.last_id);
END;

CREATE TRIGGER entries_insert_entry_counters AFTER INSERT ON entries
  WHEN NOT EXISTS (SELECT 1 FROM deferred_counts l WHERE l.org = NEW.org AND l.above_id < NEW.id)
BEGIN
  INSERT INTO entry_counters (org, project, reader, listed, entries, user_entries, multimodal, bytes, images, summaries)
    VALUES (
      NEW.org, coalesce(NEW.project, ''), NEW.reader, NEW.listed, 1, NEW.source = 'user', NEW.image_count > 0, NEW.bytes,
      NEW.image_count, NEW.summary <> ''
    )
    ON CONFLICT (org, project, reader, listed) DO UPDATE SET
      entries = entries + 1, user_entries = user_entries + excluded.user_entries, multimodal = multimodal + excluded.multimodal,
      bytes = bytes + excluded.bytes, images = images + excluded.images, summaries = summaries + excluded.summaries;
END;

CREATE TRIGGER entries_insert_patterns AFTER INSERT ON entries
  WHEN NEW.kind IN ('pattern', 'procedure', 'template', 'tool', 'code_pattern', 'rule', 'guide', 'convention')
BEGIN
  INSERT INTO patterns (
      org, layer, project, entry_id, reader, expires_at,
      language, file, folder, ending, code_file, code_folder, code_ending
    )
    SELECT * FROM pattern_rows WHERE entry_id = NEW.id;
END;

-- Inserted before the row changes, so that its images stay in use.
CREATE TRIGGER entries_update_version BEFORE UPDATE OF version ON entries
  WHEN (SELECT w.retain_versions FROM write_context w WHERE w.org = OLD.org) = 1
BEGIN
  INSERT INTO entry_versions (
      entry_id, text, ended_at, ended_version, changed, deleted, ended_by, ended_agent, change_id, edges, size,
      org, thread_id, source, layer, version, created_at, updated_at, named_kind, tag_kind, work_item, title,
      project, domain, agent, audience, diary, status, given_weight, given_pinned, named_weight, named_pinned,
      named_expires_at, layer_expires_at, confidence, archived, owner, created_by, imported_from, text_hash, bytes, text_words,
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
      OLD.layer_expires_at, OLD.confidence, OLD.archived, OLD.owner, OLD.created_by, OLD.imported_from, OLD.text_hash, OLD.bytes,
      OLD.text_words, OLD.image_count, OLD.tags, OLD.links, OLD.images, OLD.metadata, OLD.summary, OLD.changed_by,
      OLD.changed_agent, OLD.restored
    FROM write_context w WHERE w.org = OLD.org;
END;

CREATE TRIGGER entries_update_change_log AFTER UPDATE OF version ON entries
BEGIN
  INSERT INTO changes (
      org, seq, entry_id, action, version, at, change_id, key_id, agent,
      thread_id, project, kind, reader, was_thread, was_project, was_kind, was_reader
    )
    SELECT NEW.org, coalesce((SELECT max(seq) FROM changes WHERE org = NEW.org), 0) + 1, NEW.id, 'update', NEW.version, NEW.updated_at,
      coalesce(w.change_id, lower(hex(randomblob(16)))), NEW.changed_by, NEW.changed_agent,
      NEW.thread_id, NEW.project, NEW.kind,
      CASE WHEN (NEW.listed = 1 OR NEW.captured = 1) AND (NEW.expires_at IS NULL OR NEW.expires_at > NEW.updated_at) THEN NEW.reader END,
      OLD.thread_id, OLD.project, OLD.kind,
      CASE WHEN (OLD.listed = 1 OR OLD.captured = 1) AND (OLD.expires_at IS NULL OR OLD.expires_at > OLD.updated_at) THEN OLD.reader END
    FROM (SELECT 1) LEFT JOIN write_context w ON w.org = NEW.org;
END;

-- Archiving an entry and handing it over to another owner make no version, but lists lose or gain the entry.
CREATE TRIGGER entries_move_change_log AFTER UPDATE OF archived, owner ON entries
  WHEN (OLD.archived <> NEW.archived OR OLD.reader <> NEW.reader) AND OLD.version = NEW.version
BEGIN
  INSERT INTO changes (
      org, seq, entry_id, action, version, at, change_id, key_id, agent,
      thread_id, project, kind, reader, was_thread, was_project, was_kind, was_reader
    )
    SELECT NEW.org, coalesce((SELECT max(seq) FROM changes WHERE org = NEW.org), 0) + 1, NEW.id, 'update', NEW.version,
      coalesce(w.at, CAST(unixepoch('subsec') * 1000 AS INTEGER)),
      coalesce(w.change_id, lower(hex(randomblob(16)))), w.key_id, w.agent,
      NEW.thread_id, NEW.project, NEW.kind,
      CASE WHEN (NEW.listed = 1 OR NEW.captured = 1) AND (NEW.expires_at IS NULL OR NEW.expires_at > NEW.updated_at) THEN NEW.reader END,
      OLD.thread_id, OLD.project, OLD.kind,
      CASE WHEN (OLD.listed = 1 OR OLD.captured = 1) AND (OLD.expires_at IS NULL OR OLD.expires_at > OLD.updated_at) THEN OLD.reader END
    FROM (SELECT 1) LEFT JOIN write_context w ON w.org = NEW.org;
END;

CREATE TRIGGER entries_update_tags AFTER UPDATE OF
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

-- DISTINCT, because an entry may show an image twice: within a trigger SQLite uses the conflict rule of the outer statement, so that OR
-- IGNORE has no effect.
CREATE TRIGGER entries_update_image_uses AFTER UPDATE OF images ON entries WHEN OLD.images IS NOT NEW.images
BEGIN
  DELETE FROM image_uses WHERE entry_id = NEW.id;
  INSERT INTO image_uses (org, hash, entry_id, size, mime_type)
    SELECT DISTINCT NEW.org, value ->> 'hash', NEW.id, value ->> 'size', value ->> 'mimeType' FROM json_each(NEW.images);
END;

-- Links that are still named stay, with the key that made them. Each is looked up as one value, because for a pair SQLite reads the
-- complete list.
CREATE TRIGGER entries_update_links AFTER UPDATE OF links ON entries WHEN OLD.links IS NOT NEW.links
BEGIN
  DELETE FROM links WHERE org = NEW.org AND from_id = NEW.id AND origin = 'metadata'
    AND relation || ' ' || to_id NOT IN (SELECT (value ->> 0) || ' ' || (value ->> 1) FROM json_each(NEW.links));
  INSERT INTO links (org, from_id, relation, to_id, origin, made_by)
    SELECT DISTINCT NEW.org, NEW.id, value ->> 0, value ->> 1, 'metadata', coalesce(NEW.changed_by, NEW.created_by, '')
    FROM json_each(NEW.links)
    WHERE value ->> 1 <> NEW.id AND NOT EXISTS (
      SELECT 1 FROM links stands WHERE stands.org = NEW.org AND stands.from_id = NEW.id AND stands.relation = value ->> 0
        AND stands.to_id = value ->> 1 AND stands.origin = 'metadata'
    );
END;

-- An entry that moves is subtracted from one row of counters and added to another; other changes update one row.
CREATE TRIGGER entries_update_thread_counters_add AFTER UPDATE OF archived, diary, audience, owner, project, thread_id ON entries
  WHEN NEW.listed = 1 AND (NEW.listed, NEW.project, NEW.reader, NEW.thread_id) IS NOT (OLD.listed, OLD.project, OLD.reader, OLD.thread_id)
BEGIN
  INSERT INTO thread_counters (org, thread_id, project, reader, entries, user_entries, multimodal,
    bytes, words, first_second, last_second, first_id, last_id)
    VALUES (NEW.org, NEW.thread_id, coalesce(NEW.project, ''), NEW.reader, 1, NEW.source = 'user', NEW.image_count > 0,
      NEW.bytes, NEW.text_words, NEW.created_second, NEW.created_second, NEW.id, NEW.id)
    ON CONFLICT (org, thread_id, project, reader) DO UPDATE SET
      entries = entries + 1, user_entries = user_entries + excluded.user_entries, multimodal = multimodal + excluded.multimodal,
      bytes = bytes + excluded.bytes, words = words + excluded.words,
      first_second = min(first_second, excluded.first_second), last_second = max(last_second, excluded.last_second),
      first_id = min(first_id, excluded.first_id), last_id = max(last_id, excluded.last_id);
END;

CREATE TRIGGER entries_update_thread_counters_subtract AFTER UPDATE OF archived, diary, audience, owner, project, thread_id ON entries
  WHEN OLD.listed = 1 AND (NEW.listed, NEW.project, NEW.reader, NEW.thread_id) IS NOT (OLD.listed, OLD.project, OLD.reader, OLD.thread_id)
BEGIN
  UPDATE thread_counters SET
      entries = entries - 1, user_entries = user_entries - (OLD.source = 'user'), multimodal = multimodal - (OLD.image_count > 0),
      bytes = bytes - OLD.bytes, words = words - OLD.text_words,
      first_second = CASE WHEN OLD.created_second > first_second OR entries = 1 THEN first_second ELSE
        coalesce((SELECT created_second FROM entries
          WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND coalesce(project, '') = coalesce(OLD.project, '')
            AND reader = OLD.reader ORDER BY created_second LIMIT 1), first_second) END,
      last_second = CASE WHEN OLD.created_second < last_second OR entries = 1 THEN last_second ELSE
        coalesce((SELECT created_second FROM entries
          WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND coalesce(project, '') = coalesce(OLD.project, '')
            AND reader = OLD.reader ORDER BY created_second DESC LIMIT 1), last_second) END,
      first_id = CASE WHEN OLD.id > first_id OR entries = 1 THEN first_id ELSE
        coalesce((SELECT min(id) FROM (
          SELECT * FROM (SELECT id FROM entries
            WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND source = 'user' AND reader = OLD.reader
              AND coalesce(project, '') = coalesce(OLD.project, '') ORDER BY id LIMIT 1)
          UNION ALL SELECT * FROM (SELECT id FROM entries
            WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND source = 'agent' AND reader = OLD.reader
              AND coalesce(project, '') = coalesce(OLD.project, '') ORDER BY id LIMIT 1)
        )), first_id) END,
      last_id = CASE WHEN OLD.id < last_id OR entries = 1 THEN last_id ELSE
        coalesce((SELECT max(id) FROM (
          SELECT * FROM (SELECT id FROM entries
            WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND source = 'user' AND reader = OLD.reader
              AND coalesce(project, '') = coalesce(OLD.project, '') ORDER BY id DESC LIMIT 1)
          UNION ALL SELECT * FROM (SELECT id FROM entries
            WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND source = 'agent' AND reader = OLD.reader
              AND coalesce(project, '') = coalesce(OLD.project, '') ORDER BY id DESC LIMIT 1)
        )), last_id) END
    WHERE org = OLD.org AND thread_id = OLD.thread_id AND project = coalesce(OLD.project, '') AND reader = OLD.reader;
  DELETE FROM thread_counters
    WHERE org = OLD.org AND thread_id = OLD.thread_id AND project = coalesce(OLD.project, '') AND reader = OLD.reader AND entries = 0;
END;

CREATE TRIGGER entries_update_thread_counters_sizes AFTER UPDATE OF image_count, bytes, text_words ON entries
  WHEN OLD.listed = 1 AND (NEW.listed, NEW.project, NEW.reader, NEW.thread_id) IS (OLD.listed, OLD.project, OLD.reader, OLD.thread_id)
    AND (NEW.image_count, NEW.bytes, NEW.text_words) IS NOT (OLD.image_count, OLD.bytes, OLD.text_words)
BEGIN
  UPDATE thread_counters SET
      multimodal = multimodal - (OLD.image_count > 0) + (NEW.image_count > 0), bytes = bytes - OLD.bytes + NEW.bytes,
      words = words - OLD.text_words + NEW.text_words
    WHERE org = OLD.org AND thread_id = OLD.thread_id AND project = coalesce(OLD.project, '') AND reader = OLD.reader;
END;

CREATE TRIGGER entries_update_layer_counters_add AFTER UPDATE OF
    layer, project, audience, owner, diary, archived, named_kind, tag_kind, work_item, source, given_pinned, named_pinned,
    named_expires_at, layer_expires_at
  ON entries
  WHEN NEW.listed = 1 AND NEW.expires_at IS NULL
    AND (NEW.listed, NEW.expires_at, NEW.layer, NEW.project, NEW.reader, NEW.kind, NEW.pinned)
      IS NOT (OLD.listed, OLD.expires_at, OLD.layer, OLD.project, OLD.reader, OLD.kind, OLD.pinned)
BEGIN
  INSERT INTO layer_counters (org, layer, project, reader, kind, pinned, entries, words, first_id, last_id)
    VALUES (NEW.org, NEW.layer, coalesce(NEW.project, ''), NEW.reader, NEW.kind, NEW.pinned, 1, NEW.text_words, NEW.id, NEW.id)
    ON CONFLICT (org, layer, project, reader, kind, pinned) DO UPDATE SET
      entries = entries + 1, words = words + excluded.words,
      first_id = min(first_id, excluded.first_id), last_id = max(last_id, excluded.last_id);
END;

CREATE TRIGGER entries_update_layer_counters_subtract AFTER UPDATE OF
    layer, project, audience, owner, diary, archived, named_kind, tag_kind, work_item, source, given_pinned, named_pinned,
    named_expires_at, layer_expires_at
  ON entries
  WHEN OLD.listed = 1 AND OLD.expires_at IS NULL
    AND (NEW.listed, NEW.expires_at, NEW.layer, NEW.project, NEW.reader, NEW.kind, NEW.pinned)
      IS NOT (OLD.listed, OLD.expires_at, OLD.layer, OLD.project, OLD.reader, OLD.kind, OLD.pinned)
BEGIN
  UPDATE layer_counters SET entries = entries - 1, words = words - OLD.text_words
    WHERE org = OLD.org AND layer = OLD.layer AND project = coalesce(OLD.project, '') AND reader = OLD.reader
      AND kind = OLD.kind AND pinned = OLD.pinned;
  DELETE FROM layer_counters
    WHERE org = OLD.org AND layer = OLD.layer AND project = coalesce(OLD.project, '') AND reader = OLD.reader
      AND kind = OLD.kind AND pinned = OLD.pinned AND entries = 0;
END;

CREATE TRIGGER entries_update_layer_counters_sizes AFTER UPDATE OF text_words ON entries
  WHEN OLD.listed = 1 AND OLD.expires_at IS NULL AND OLD.text_words <> NEW.text_words
    AND (NEW.listed, NEW.expires_at, NEW.layer, NEW.project, NEW.reader, NEW.kind, NEW.pinned)
      IS (OLD.listed, OLD.expires_at, OLD.layer, OLD.project, OLD.reader, OLD.kind, OLD.pinned)
BEGIN
  UPDATE layer_counters SET words = words - OLD.text_words + NEW.text_words
    WHERE org = OLD.org AND layer = OLD.layer AND project = coalesce(OLD.project, '') AND reader = OLD.reader
      AND kind = OLD.kind AND pinned = OLD.pinned;
END;

CREATE TRIGGER entries_update_entry_counters AFTER UPDATE OF archived, diary, audience, owner, project ON entries
  WHEN (OLD.listed, OLD.project, OLD.reader) IS NOT (NEW.listed, NEW.project, NEW.reader)
BEGIN
  UPDATE entry_counters SET
      entries = entries - 1, user_entries = user_entries - (OLD.source = 'user'), multimodal = multimodal - (OLD.image_count > 0),
      bytes = bytes - OLD.bytes, images = images - OLD.image_count, summaries = summaries - (OLD.summary <> '')
    WHERE org = OLD.org AND project = coalesce(OLD.project, '') AND reader = OLD.reader AND listed = OLD.listed;
  INSERT INTO entry_counters (org, project, reader, listed, entries, user_entries, multimodal, bytes, images, summaries)
    VALUES (
      NEW.org, coalesce(NEW.project, ''), NEW.reader, NEW.listed, 1, NEW.source = 'user', NEW.image_count > 0, NEW.bytes,
      NEW.image_count, NEW.summary <> ''
    )
    ON CONFLICT (org, project, reader, listed) DO UPDATE SET
      entries = entries + 1, user_entries = user_entries + excluded.user_entries, multimodal = multimodal + excluded.multimodal,
      bytes = bytes + excluded.bytes, images = images + excluded.images, summaries = summaries + excluded.summaries;
  DELETE FROM entry_counters
    WHERE org = OLD.org AND project = coalesce(OLD.project, '') AND reader = OLD.reader AND listed = OLD.listed AND entries = 0;
END;

CREATE TRIGGER entries_update_entry_counters_sizes AFTER UPDATE OF image_count, bytes, summary ON entries
  WHEN (OLD.listed, OLD.project, OLD.reader) IS (NEW.listed, NEW.project, NEW.reader)
    AND (OLD.image_count, OLD.bytes, OLD.summary <> '') IS NOT (NEW.image_count, NEW.bytes, NEW.summary <> '')
BEGIN
  UPDATE entry_counters SET
      multimodal = multimodal - (OLD.image_count > 0) + (NEW.image_count > 0), bytes = bytes - OLD.bytes + NEW.bytes,
      images = images - OLD.image_count + NEW.image_count, summaries = summaries - (OLD.summary <> '') + (NEW.summary <> '')
    WHERE org = OLD.org AND project = coalesce(OLD.project, '') AND reader = OLD.reader AND listed = OLD.listed;
END;

CREATE TRIGGER entries_update_patterns AFTER UPDATE OF
    metadata, named_kind, tag_kind, work_item, source, layer, project, audience, owner, diary, archived,
    named_expires_at, layer_expires_at
  ON entries
  WHEN OLD.kind IN ('pattern', 'procedure', 'template', 'tool', 'code_pattern', 'rule', 'guide', 'convention')
    OR NEW.kind IN ('pattern', 'procedure', 'template', 'tool', 'code_pattern', 'rule', 'guide', 'convention')
BEGIN
  DELETE FROM patterns
    WHERE org = OLD.org AND layer = OLD.layer AND project = coalesce(OLD.project, '') AND entry_id = OLD.id;
  INSERT INTO patterns (
      org, layer, project, entry_id, reader, expires_at,
      language, file, folder, ending, code_file, code_folder, code_ending
    )
    SELECT * FROM pattern_rows WHERE entry_id = NEW.id;
END;

-- A long text is deleted with the last row that uses it.
CREATE TRIGGER entries_update_long_text AFTER UPDATE OF text_hash ON entries WHEN OLD.bytes > 16384 AND OLD.text_hash <> NEW.text_hash
BEGIN
  DELETE FROM long_texts WHERE org = OLD.org AND hash = OLD.text_hash
    AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.org = OLD.org AND e.text_hash = OLD.text_hash AND e.bytes > 16384)
    AND NOT EXISTS (SELECT 1 FROM entry_versions v WHERE v.org = OLD.org AND v.text_hash = OLD.text_hash AND v.bytes > 16384)
    AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.org = OLD.org AND o.topic = 'text' AND o.key = OLD.text_hash);
END;

CREATE TRIGGER entries_update_vector_counters AFTER UPDATE OF archived, diary, audience, owner, project ON entries
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

-- An entry that moves gets new vectors with new IDs, so that external indexes are updated. Old and new rows have entry IDs that no entry
-- has while both exist, so that each query sees one set.
CREATE TRIGGER entries_update_vectors AFTER UPDATE OF layer, project, audience, owner, diary, archived ON entries
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

-- A restored entry gets back its links with the keys that made them; links from metadata only where they supersede.
CREATE TRIGGER entries_delete_version BEFORE DELETE ON entries
  WHEN (SELECT w.retain_versions FROM write_context w WHERE w.org = OLD.org) = 1
BEGIN
  INSERT INTO entry_versions (
      entry_id, text, ended_at, ended_version, changed, deleted, ended_by, ended_agent, change_id, edges, size,
      org, thread_id, source, layer, version, created_at, updated_at, named_kind, tag_kind, work_item, title,
      project, domain, agent, audience, diary, status, given_weight, given_pinned, named_weight, named_pinned,
      named_expires_at, layer_expires_at, confidence, archived, owner, created_by, imported_from, text_hash, bytes, text_words,
      image_count, tags, links, images, metadata, summary, changed_by, changed_agent, restored
    )
    SELECT OLD.id, OLD.text, coalesce(w.at, CAST(unixepoch('subsec') * 1000 AS INTEGER)), OLD.version + 1,
      0, 1, w.key_id, w.agent, w.change_id,
      (
        SELECT nullif(json_group_array(json_array(from_id, relation, to_id, origin, made_by)), '[]') FROM links
        WHERE org = OLD.org AND from_id = OLD.id AND (origin <> 'metadata' OR relation = 'supersedes')
      ),
      OLD.bytes,
      OLD.org, OLD.thread_id, OLD.source, OLD.layer, OLD.version, OLD.created_at, OLD.updated_at, OLD.named_kind,
      OLD.tag_kind, OLD.work_item, OLD.title, OLD.project, OLD.domain, OLD.agent, OLD.audience, OLD.diary,
      OLD.status, OLD.given_weight, OLD.given_pinned, OLD.named_weight, OLD.named_pinned, OLD.named_expires_at,
      OLD.layer_expires_at, OLD.confidence, OLD.archived, OLD.owner, OLD.created_by, OLD.imported_from, OLD.text_hash, OLD.bytes,
      OLD.text_words, OLD.image_count, OLD.tags, OLD.links, OLD.images, OLD.metadata, OLD.summary, OLD.changed_by,
      OLD.changed_agent, OLD.restored
    FROM write_context w WHERE w.org = OLD.org;
END;

-- All vectors are subtracted before the entry is deleted; the trigger of each vector then finds no entry.
CREATE TRIGGER entries_delete_vector_counters BEFORE DELETE ON entries WHEN OLD.listed = 1
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

-- The change log and history have the time of the call. Links to the entry stay, unless it cannot be restored.
CREATE TRIGGER entries_delete_derived_rows AFTER DELETE ON entries
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
      org, seq, entry_id, action, version, at, change_id, key_id, agent,
      thread_id, project, kind, was_thread, was_project, was_kind, was_reader, last_reader
    )
    SELECT OLD.org, coalesce((SELECT max(seq) FROM changes WHERE org = OLD.org), 0) + 1, OLD.id, 'delete', OLD.version + 1,
      coalesce(w.at, CAST(unixepoch('subsec') * 1000 AS INTEGER)),
      coalesce(w.change_id, lower(hex(randomblob(16)))), w.key_id, w.agent,
      OLD.thread_id, OLD.project, OLD.kind, OLD.thread_id, OLD.project, OLD.kind,
      CASE WHEN (OLD.listed = 1 OR OLD.captured = 1) AND (OLD.expires_at IS NULL OR OLD.expires_at > OLD.updated_at) THEN OLD.reader END,
      OLD.reader
    FROM (SELECT 1) LEFT JOIN write_context w ON w.org = OLD.org;
END;

-- An update that keeps the last entry of a thread does not touch the index by last use.
CREATE TRIGGER entries_delete_thread_counters AFTER DELETE ON entries WHEN OLD.listed = 1
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

CREATE TRIGGER entries_delete_thread_counters_not_last AFTER DELETE ON entries WHEN OLD.listed = 1
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

-- A row that counts one entry is deleted without an update.
CREATE TRIGGER entries_delete_layer_counters AFTER DELETE ON entries WHEN OLD.listed = 1 AND OLD.expires_at IS NULL
BEGIN
  DELETE FROM layer_counters
    WHERE org = OLD.org AND layer = OLD.layer AND project = coalesce(OLD.project, '') AND reader = OLD.reader
      AND kind = OLD.kind AND pinned = OLD.pinned AND entries = 1;
  UPDATE layer_counters SET entries = entries - 1, words = words - OLD.text_words
    WHERE org = OLD.org AND layer = OLD.layer AND project = coalesce(OLD.project, '') AND reader = OLD.reader
      AND kind = OLD.kind AND pinned = OLD.pinned;
END;

CREATE TRIGGER entries_delete_entry_counters AFTER DELETE ON entries
BEGIN
  DELETE FROM entry_counters
    WHERE org = OLD.org AND project = coalesce(OLD.project, '') AND reader = OLD.reader AND listed = OLD.listed AND entries = 1;
  UPDATE entry_counters SET
      entries = entries - 1, user_entries = user_entries - (OLD.source = 'user'), multimodal = multimodal - (OLD.image_count > 0),
      bytes = bytes - OLD.bytes, images = images - OLD.image_count, summaries = summaries - (OLD.summary <> '')
    WHERE org = OLD.org AND project = coalesce(OLD.project, '') AND reader = OLD.reader AND listed = OLD.listed;
END;

CREATE TRIGGER entries_delete_patterns AFTER DELETE ON entries
  WHEN OLD.kind IN ('pattern', 'procedure', 'template', 'tool', 'code_pattern', 'rule', 'guide', 'convention')
BEGIN
  DELETE FROM patterns
    WHERE org = OLD.org AND layer = OLD.layer AND project = coalesce(OLD.project, '') AND entry_id = OLD.id;
END;

CREATE TRIGGER entries_delete_long_text AFTER DELETE ON entries WHEN OLD.bytes > 16384
BEGIN
  DELETE FROM long_texts WHERE org = OLD.org AND hash = OLD.text_hash
    AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.org = OLD.org AND e.text_hash = OLD.text_hash AND e.bytes > 16384)
    AND NOT EXISTS (SELECT 1 FROM entry_versions v WHERE v.org = OLD.org AND v.text_hash = OLD.text_hash AND v.bytes > 16384)
    AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.org = OLD.org AND o.topic = 'text' AND o.key = OLD.text_hash);
END;

CREATE TRIGGER entries_delete_line_index AFTER DELETE ON entries
BEGIN
  DELETE FROM text_line_index WHERE entry_id = OLD.id;
END;

CREATE TRIGGER entries_delete_fts AFTER DELETE ON entries
BEGIN
  DELETE FROM entries_fts WHERE rowid = OLD.id;
END;

CREATE TRIGGER entries_delete_vectors AFTER DELETE ON entries
BEGIN
  DELETE FROM entry_vectors WHERE entry_id = OLD.id;
END;

CREATE TRIGGER entries_delete_import_references AFTER DELETE ON entries
BEGIN
  DELETE FROM import_references WHERE entry_id = OLD.id;
END;

-- Triggers on other tables
-- ------------------------

CREATE TRIGGER entry_tags_insert_counters AFTER INSERT ON entry_tags WHEN NEW.listed = 1
  AND NOT EXISTS (SELECT 1 FROM deferred_counts l WHERE l.org = NEW.org AND l.above_id < NEW.entry_id)
BEGIN
  INSERT INTO tag_counters (org, tag, project, reader, uses) VALUES (NEW.org, NEW.tag, NEW.project, NEW.reader, 1)
    ON CONFLICT (org, tag, project, reader) DO UPDATE SET uses = uses + 1;
END;

CREATE TRIGGER entry_tags_delete_counters AFTER DELETE ON entry_tags WHEN OLD.listed = 1
BEGIN
  DELETE FROM tag_counters
    WHERE org = OLD.org AND tag = OLD.tag AND project = OLD.project AND reader = OLD.reader AND uses = 1;
  UPDATE tag_counters SET uses = uses - 1
    WHERE org = OLD.org AND tag = OLD.tag AND project = OLD.project AND reader = OLD.reader;
END;

CREATE TRIGGER image_uses_insert_usage AFTER INSERT ON image_uses
  WHEN NOT EXISTS (SELECT 1 FROM image_uses WHERE org = NEW.org AND hash = NEW.hash AND entry_id <> NEW.entry_id)
BEGIN
  INSERT INTO usage_counters (org, part, items, bytes) VALUES (NEW.org, 'images', 1, NEW.size)
    ON CONFLICT (org, part) DO UPDATE SET items = items + 1, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER image_uses_delete_usage AFTER DELETE ON image_uses
  WHEN NOT EXISTS (SELECT 1 FROM image_uses WHERE org = OLD.org AND hash = OLD.hash)
BEGIN
  UPDATE usage_counters SET items = items - 1, bytes = bytes - OLD.size WHERE org = OLD.org AND part = 'images';
END;

-- An image that is used again is not removed. A removal that has begun is detected by the precondition of the write.
CREATE TRIGGER image_uses_insert_outbox AFTER INSERT ON image_uses
BEGIN
  DELETE FROM outbox WHERE org = NEW.org AND topic = 'image_delete' AND key = NEW.hash AND state <> 'claimed';
END;

-- Queues the removal of an image with its last use.
CREATE TRIGGER image_uses_delete_outbox AFTER DELETE ON image_uses
  WHEN NOT EXISTS (SELECT 1 FROM images_in_use WHERE org = OLD.org AND hash = OLD.hash)
BEGIN
  INSERT INTO outbox (org, topic, key, created_at, due_at) VALUES (OLD.org, 'image_delete', OLD.hash, unixepoch() * 1000, 0)
    ON CONFLICT (org, topic, key) DO NOTHING;
END;

CREATE TRIGGER long_texts_insert_preview AFTER INSERT ON long_texts WHEN length(NEW.text) > 100000
BEGIN
  INSERT INTO text_previews (org, hash, text) VALUES (NEW.org, NEW.hash, substr(NEW.text, 1, 60000)) ON CONFLICT (org, hash) DO NOTHING;
END;

CREATE TRIGGER long_texts_delete_preview AFTER DELETE ON long_texts
BEGIN
  DELETE FROM text_previews WHERE org = OLD.org AND hash = OLD.hash;
END;

CREATE TRIGGER entry_versions_insert_counters AFTER INSERT ON entry_versions
BEGIN
  INSERT INTO version_counters (org, project, reader, versions, bytes)
    VALUES (NEW.org, coalesce(NEW.project, ''), NEW.reader, 1, NEW.size)
    ON CONFLICT (org, project, reader) DO UPDATE SET versions = versions + 1, bytes = bytes + excluded.bytes;
END;

-- A version uses its images with its negative ID, which no entry has.
CREATE TRIGGER entry_versions_insert_image_uses AFTER INSERT ON entry_versions WHEN NEW.images IS NOT NULL
BEGIN
  INSERT INTO image_uses (org, hash, entry_id, size, mime_type)
    SELECT DISTINCT NEW.org, value ->> 'hash', -NEW.id, value ->> 'size', value ->> 'mimeType' FROM json_each(NEW.images);
END;

CREATE TRIGGER entry_versions_delete_counters AFTER DELETE ON entry_versions
BEGIN
  DELETE FROM image_uses WHERE entry_id = -OLD.id;
  UPDATE version_counters SET versions = versions - 1, bytes = bytes - OLD.size
    WHERE org = OLD.org AND project = coalesce(OLD.project, '') AND reader = OLD.reader;
  DELETE FROM version_counters
    WHERE org = OLD.org AND project = coalesce(OLD.project, '') AND reader = OLD.reader AND versions = 0;
END;

-- A version that is handed over to another owner.
CREATE TRIGGER entry_versions_update_counters AFTER UPDATE OF owner ON entry_versions WHEN OLD.reader <> NEW.reader
BEGIN
  INSERT INTO version_counters (org, project, reader, versions, bytes)
    VALUES (NEW.org, coalesce(NEW.project, ''), NEW.reader, 1, NEW.size)
    ON CONFLICT (org, project, reader) DO UPDATE SET versions = versions + 1, bytes = bytes + excluded.bytes;
  UPDATE version_counters SET versions = versions - 1, bytes = bytes - OLD.size
    WHERE org = OLD.org AND project = coalesce(OLD.project, '') AND reader = OLD.reader;
  DELETE FROM version_counters
    WHERE org = OLD.org AND project = coalesce(OLD.project, '') AND reader = OLD.reader AND versions = 0;
END;

CREATE TRIGGER entry_versions_delete_dangling_links AFTER DELETE ON entry_versions
BEGIN
  INSERT OR IGNORE INTO dangling_links (entry_id, org)
    SELECT OLD.entry_id, OLD.org
    WHERE EXISTS (SELECT 1 FROM links WHERE to_id = OLD.entry_id)
      AND NOT EXISTS (SELECT 1 FROM entry_versions WHERE entry_id = OLD.entry_id)
      AND NOT EXISTS (SELECT 1 FROM entries WHERE id = OLD.entry_id);
END;

CREATE TRIGGER entry_versions_delete_long_text AFTER DELETE ON entry_versions WHEN OLD.bytes > 16384
BEGIN
  DELETE FROM long_texts WHERE org = OLD.org AND hash = OLD.text_hash
    AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.org = OLD.org AND e.text_hash = OLD.text_hash AND e.bytes > 16384)
    AND NOT EXISTS (SELECT 1 FROM entry_versions v WHERE v.org = OLD.org AND v.text_hash = OLD.text_hash AND v.bytes > 16384)
    AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.org = OLD.org AND o.topic = 'text' AND o.key = OLD.text_hash);
END;

CREATE TRIGGER receipts_insert_usage AFTER INSERT ON receipts
BEGIN
  INSERT INTO usage_counters (org, part, items, bytes) VALUES (NEW.org, 'receipts', 1, NEW.bytes)
    ON CONFLICT (org, part) DO UPDATE SET items = items + 1, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER receipts_update_usage AFTER UPDATE OF effect, answer, notes, batch_output, text ON receipts
BEGIN
  UPDATE usage_counters SET bytes = bytes - OLD.bytes + NEW.bytes WHERE org = NEW.org AND part = 'receipts';
END;

CREATE TRIGGER receipts_delete_usage AFTER DELETE ON receipts
BEGIN
  UPDATE usage_counters SET items = items - 1, bytes = bytes - OLD.bytes WHERE org = OLD.org AND part = 'receipts';
END;

-- Queues the synchronization of external vector indexes.
CREATE TRIGGER entry_vectors_insert_sync AFTER INSERT ON entry_vectors
  WHEN NOT EXISTS (
    SELECT 1 FROM outbox WHERE org = NEW.org AND topic = 'vector_sync' AND key = NEW.model AND state = 'pending' AND due_at = 0
  )
BEGIN
  INSERT INTO outbox (org, topic, key, created_at, due_at) VALUES (NEW.org, 'vector_sync', NEW.model, unixepoch() * 1000, 0)
    ON CONFLICT (org, topic, key) DO UPDATE SET state = 'pending', due_at = 0;
END;

CREATE TRIGGER entry_vectors_delete_sync AFTER DELETE ON entry_vectors
BEGIN
  INSERT INTO vector_removals (org, id, vector_id)
    VALUES (OLD.org, coalesce((SELECT max(id) FROM vector_removals WHERE org = OLD.org), 0) + 1, OLD.id);
  INSERT INTO highest_removed_vector (only_row, id)
    SELECT 1, OLD.id WHERE OLD.id > coalesce((SELECT max(id) FROM entry_vectors), 0)
    ON CONFLICT (only_row) DO UPDATE SET id = max(id, excluded.id);
  INSERT INTO outbox (org, topic, key, created_at, due_at)
    SELECT OLD.org, 'vector_sync', OLD.model, unixepoch() * 1000, 0
    WHERE NOT EXISTS (
      SELECT 1 FROM outbox WHERE org = OLD.org AND topic = 'vector_sync' AND key = OLD.model AND state = 'pending' AND due_at = 0
    )
    ON CONFLICT (org, topic, key) DO UPDATE SET state = 'pending', due_at = 0;
END;

-- SQLite gives a new vector the ID of a deleted one if that was the newest.
CREATE TRIGGER entry_vectors_insert_number AFTER INSERT ON entry_vectors
  WHEN NEW.id <= (SELECT id FROM highest_removed_vector)
BEGIN
  UPDATE entry_vectors SET id = (SELECT max(removed.id, (SELECT max(id) FROM entry_vectors)) + 1 FROM highest_removed_vector removed)
    WHERE entry_id = NEW.entry_id AND model = NEW.model AND chunk = NEW.chunk;
END;

-- A writer may leave out the columns of the access check.
CREATE TRIGGER entry_vectors_insert_scope AFTER INSERT ON entry_vectors WHEN NEW.project IS NULL
BEGIN
  UPDATE entry_vectors SET (layer, project, reader) = (
      SELECT CASE WHEN e.listed = 1 THEN e.layer END, coalesce(e.project, ''), e.reader FROM entries e WHERE e.id = NEW.entry_id
    )
    WHERE entry_id = NEW.entry_id AND model = NEW.model AND chunk = NEW.chunk;
END;

CREATE TRIGGER entry_vectors_insert_counters AFTER INSERT ON entry_vectors
  WHEN NOT EXISTS (SELECT 1 FROM deferred_counts l WHERE l.org = NEW.org AND l.above_id < NEW.entry_id)
BEGIN
  INSERT INTO vector_counters (org, project, reader, model, entries, vectors, bytes)
    SELECT e.org, coalesce(e.project, ''), e.reader, NEW.model, NEW.chunk = 0, 1, octet_length(NEW.data)
    FROM entries e WHERE e.id = NEW.entry_id AND e.listed = 1
    ON CONFLICT (org, project, reader, model) DO UPDATE SET
      entries = entries + excluded.entries, vectors = vectors + 1, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER entry_vectors_delete_counters AFTER DELETE ON entry_vectors
BEGIN
  UPDATE vector_counters SET
      entries = vector_counters.entries - (OLD.chunk = 0), vectors = vectors - 1, bytes = vector_counters.bytes - octet_length(OLD.data)
    FROM (SELECT e.org, coalesce(e.project, '') AS project, e.reader FROM entries e WHERE e.id = OLD.entry_id AND e.listed = 1) was
    WHERE vector_counters.org = was.org AND vector_counters.project = was.project AND vector_counters.reader = was.reader
      AND vector_counters.model = OLD.model;
END;

CREATE TRIGGER deferred_counts_delete_apply AFTER DELETE ON deferred_counts
BEGIN
  INSERT INTO entry_counters (org, project, reader, listed, entries, user_entries, multimodal, bytes, images, summaries)
    SELECT OLD.org, coalesce(e.project, ''), e.reader, e.listed, count(*), sum(e.source = 'user'), sum(e.image_count > 0),
      sum(e.bytes), sum(e.image_count), sum(e.summary <> '')
    FROM entries e WHERE e.id > OLD.above_id AND +e.org = OLD.org GROUP BY 2, 3, 4
    ON CONFLICT (org, project, reader, listed) DO UPDATE SET
      entries = entries + excluded.entries, user_entries = user_entries + excluded.user_entries,
      multimodal = multimodal + excluded.multimodal, bytes = bytes + excluded.bytes, images = images + excluded.images,
      summaries = summaries + excluded.summaries;
  INSERT INTO layer_counters (org, layer, project, reader, kind, pinned, entries, words, first_id, last_id)
    SELECT OLD.org, e.layer, coalesce(e.project, ''), e.reader, e.kind, e.pinned, count(*), sum(e.text_words), min(e.id), max(e.id)
    FROM entries e WHERE e.id > OLD.above_id AND +e.org = OLD.org AND +e.listed = 1 AND +e.expires_at IS NULL GROUP BY 2, 3, 4, 5, 6
    ON CONFLICT (org, layer, project, reader, kind, pinned) DO UPDATE SET
      entries = entries + excluded.entries, words = words + excluded.words,
      first_id = min(first_id, excluded.first_id), last_id = max(last_id, excluded.last_id);
  INSERT INTO tag_counters (org, tag, project, reader, uses)
    SELECT OLD.org, t.value, coalesce(e.project, ''), e.reader, count(*)
    FROM entries e, json_each(e.tags) t WHERE e.id > OLD.above_id AND +e.org = OLD.org AND +e.listed = 1 GROUP BY 2, 3, 4
    ON CONFLICT (org, tag, project, reader) DO UPDATE SET uses = uses + excluded.uses;
  INSERT INTO vector_counters (org, project, reader, model, entries, vectors, bytes)
    SELECT OLD.org, coalesce(e.project, ''), e.reader, v.model, sum(v.chunk = 0), count(*), sum(octet_length(v.data))
    FROM entries e CROSS JOIN entry_vectors v ON v.entry_id = e.id
    WHERE e.id > OLD.above_id AND +e.org = OLD.org AND +e.listed = 1 GROUP BY 2, 3, 4
    ON CONFLICT (org, project, reader, model) DO UPDATE SET
      entries = entries + excluded.entries, vectors = vectors + excluded.vectors, bytes = bytes + excluded.bytes;
END;

-- INSERT OR REPLACE would delete a row without the trigger of deletes.
CREATE TRIGGER audit_insert_guard BEFORE INSERT ON audit
  WHEN EXISTS (SELECT 1 FROM audit WHERE org = NEW.org AND seq = NEW.seq)
BEGIN
  SELECT raise(ABORT, 'commonplace: the audit log is append-only');
END;

-- Rows do not change, except that a row of repeated calls counts one more.
CREATE TRIGGER audit_update_guard BEFORE UPDATE ON audit
  WHEN OLD.times IS NULL OR NEW.times IS NOT OLD.times + 1 OR length(NEW.ids) < length(OLD.ids)
    OR (NEW.org, NEW.seq, NEW.at, NEW.key_id, NEW.agent, NEW.action, NEW.tool, NEW.allowed, NEW.detail, NEW.bytes_before)
      IS NOT (OLD.org, OLD.seq, OLD.at, OLD.key_id, OLD.agent, OLD.action, OLD.tool, OLD.allowed, OLD.detail, OLD.bytes_before)
BEGIN
  SELECT raise(ABORT, 'commonplace: the audit log is append-only');
END;

CREATE TRIGGER audit_delete_guard BEFORE DELETE ON audit
  WHEN NOT EXISTS (SELECT 1 FROM audit_purge p WHERE OLD.at < p.before)
BEGIN
  SELECT raise(ABORT, 'commonplace: the audit log is append-only');
END;

-- The newest row is counted as it is. What an older row gains is counted apart, and subtracted when the row is deleted.
CREATE TRIGGER audit_update_usage AFTER UPDATE OF ids ON audit
  WHEN OLD.ids <> NEW.ids AND EXISTS (SELECT 1 FROM audit WHERE org = NEW.org AND seq > NEW.seq)
BEGIN
  INSERT INTO usage_counters (org, part, items, bytes) VALUES (NEW.org, 'audit', 0, NEW.bytes - OLD.bytes)
    ON CONFLICT (org, part) DO UPDATE SET bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER audit_delete_usage AFTER DELETE ON audit WHEN OLD.times > 1
BEGIN
  UPDATE usage_counters SET bytes = bytes - OLD.bytes - OLD.bytes_before + coalesce(
      (SELECT bytes_before FROM audit WHERE org = OLD.org AND seq > OLD.seq ORDER BY seq LIMIT 1), OLD.bytes + OLD.bytes_before
    )
    WHERE org = OLD.org AND part = 'audit';
END;

CREATE TRIGGER code_files_insert_counters AFTER INSERT ON code_files
BEGIN
  INSERT INTO code_projects (org, project, files, symbols, chunks, words, bytes, pending)
    VALUES (NEW.org, NEW.project, 1, NEW.symbols, NEW.chunks, NEW.words, NEW.bytes, NEW.model IS NULL)
    ON CONFLICT (org, project) DO UPDATE SET
      files = files + 1, symbols = symbols + NEW.symbols, chunks = chunks + NEW.chunks, words = words + NEW.words,
      bytes = bytes + NEW.bytes, pending = pending + (NEW.model IS NULL);
END;

CREATE TRIGGER code_files_update_counters AFTER UPDATE OF model ON code_files
BEGIN
  UPDATE code_projects SET pending = pending + (NEW.model IS NULL) - (OLD.model IS NULL)
    WHERE org = NEW.org AND project = NEW.project;
END;

CREATE TRIGGER code_files_delete_parts AFTER DELETE ON code_files
BEGIN
  UPDATE code_projects SET
      files = files - 1, symbols = symbols - OLD.symbols, chunks = chunks - OLD.chunks, words = words - OLD.words,
      bytes = bytes - OLD.bytes, pending = pending - (OLD.model IS NULL)
    WHERE org = OLD.org AND project = OLD.project;
  DELETE FROM code_chunks WHERE file_id = OLD.id;
  DELETE FROM code_symbols WHERE org = OLD.org AND project = OLD.project AND file_id = OLD.id;
  DELETE FROM code_symbol_texts WHERE file_id = OLD.id;
  DELETE FROM code_vectors WHERE file_id = OLD.id;
  DELETE FROM code_grams WHERE rowid = OLD.id;
END;

CREATE TRIGGER code_files_insert_usage AFTER INSERT ON code_files
BEGIN
  INSERT INTO usage_counters (org, part, items, bytes) VALUES (NEW.org, 'code', 1, NEW.bytes)
    ON CONFLICT (org, part) DO UPDATE SET items = items + 1, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER code_files_delete_usage AFTER DELETE ON code_files
BEGIN
  UPDATE usage_counters SET items = items - 1, bytes = bytes - OLD.bytes WHERE org = OLD.org AND part = 'code';
END;

CREATE TRIGGER code_chunks_delete_words AFTER DELETE ON code_chunks
BEGIN
  DELETE FROM code_words WHERE rowid = OLD.id;
END;

-- Counted in whole kilobytes, so that few events change the usage. A request counts what it inserts, once (capture-store.ts).
CREATE TRIGGER capture_sessions_update_usage AFTER UPDATE OF state ON capture_sessions
  WHEN (octet_length(OLD.session || OLD.state) + 1023) / 1024 <> (octet_length(NEW.session || NEW.state) + 1023) / 1024
BEGIN
  UPDATE usage_counters SET bytes = bytes + 1024 * (
      (octet_length(NEW.session || NEW.state) + 1023) / 1024 - (octet_length(OLD.session || OLD.state) + 1023) / 1024
    )
    WHERE org = NEW.org AND part = 'capture';
END;

CREATE TRIGGER capture_sessions_delete_usage AFTER DELETE ON capture_sessions
BEGIN
  UPDATE usage_counters SET items = items - 1, bytes = bytes - (octet_length(OLD.session || OLD.state) + 1023) / 1024 * 1024
    WHERE org = OLD.org AND part = 'capture';
END;

CREATE TRIGGER capture_events_update_usage AFTER UPDATE OF output ON capture_events
BEGIN
  UPDATE usage_counters SET bytes = bytes - octet_length(coalesce(OLD.output, '')) + octet_length(coalesce(NEW.output, ''))
    WHERE org = NEW.org AND part = 'capture';
END;

CREATE TRIGGER capture_events_delete_usage AFTER DELETE ON capture_events
BEGIN
  UPDATE usage_counters SET items = items - 1, bytes = bytes - octet_length(OLD.id || coalesce(OLD.output, ''))
    WHERE org = OLD.org AND part = 'capture';
END;
