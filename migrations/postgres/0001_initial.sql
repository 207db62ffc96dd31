-- The schema of PostgreSQL, the twin of migrations/d1/0001_initial.sql.
--
-- Columns have the names of D1. Flags are 0 and 1 and times milliseconds since 1970, as on D1, so that both databases share statements.
-- Text is compared by bytes (COLLATE "C"), as on D1. Functions find their tables by the search_path of this migration.
-- Names: an index is called after its table and columns and ends in _idx, a trigger after its table, its event and the table or feature
-- that it maintains. A function of one trigger has the name of that trigger.

-- Settings and preconditions
-- --------------------------

-- Settings of this store: the analysis that wrote the full-text index and its progress, and the secret of the change feed.
CREATE TABLE settings (
  name text COLLATE "C" PRIMARY KEY,
  value text NOT NULL
);

-- The secret that signs the cursors of the change feed.
INSERT INTO settings (name, value) VALUES ('feed_secret', replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''));

-- A batch inserts its preconditions here. A false one aborts the batch, and the error carries the name of the precondition.
CREATE VIEW guards AS SELECT true AS holds, ''::text AS precondition;

CREATE FUNCTION precondition_failed() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'commonplace: precondition failed' USING ERRCODE = 'CP001';
END $$;

CREATE FUNCTION check_precondition() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF NEW.holds IS TRUE THEN RETURN NEW; END IF;
  IF NEW.precondition IS NULL THEN PERFORM precondition_failed(); END IF;
  RAISE EXCEPTION 'commonplace: precondition failed: %', NEW.precondition USING ERRCODE = 'CP001';
END $$;

CREATE TRIGGER guards_insert_check INSTEAD OF INSERT ON guards FOR EACH ROW EXECUTE FUNCTION check_precondition();

-- The numbers of a JSON list, one per row.
CREATE FUNCTION json_numbers(list jsonb) RETURNS TABLE (value bigint) LANGUAGE sql IMMUTABLE AS $$
  SELECT number::bigint FROM jsonb_array_elements_text(list) AS number
$$;

-- A JSON merge patch (RFC 7396).
CREATE FUNCTION merge_patch(target jsonb, patch jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE SET search_path FROM CURRENT AS $$
DECLARE
  member record;
BEGIN
  IF jsonb_typeof(patch) <> 'object' THEN RETURN patch; END IF;
  IF target IS NULL OR jsonb_typeof(target) <> 'object' THEN target := '{}'; END IF;
  FOR member IN SELECT key, value FROM jsonb_each(patch) LOOP
    IF jsonb_typeof(member.value) = 'null' THEN target := target - member.key;
    ELSIF jsonb_typeof(member.value) = 'object'
      THEN target := target || jsonb_build_object(member.key, merge_patch(target -> member.key, member.value));
    ELSE target := target || jsonb_build_object(member.key, member.value);
    END IF;
  END LOOP;
  RETURN target;
END $$;

-- JSON without the spaces that jsonb adds, so that sizes are those of the JSON that a client sent.
CREATE FUNCTION compact_json(value jsonb) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT regexp_replace(value::text, '("(?:[^"\\]|\\.)*")|\s+', '\1', 'g')
$$;

-- Organizations, keys and the audit log
-- -------------------------------------

CREATE TABLE orgs (
  id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  created_at bigint NOT NULL -- milliseconds since 1970
);

-- Projects that an administrator created, renamed or merged. Other projects exist from their first entry on.
CREATE TABLE projects (
  org text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  created_at bigint NOT NULL,
  merged_into text COLLATE "C", -- the project that its names mean now; entries keep the key that they have
  PRIMARY KEY (org, id)
);

CREATE INDEX projects_merged_into_idx ON projects (org, merged_into) WHERE merged_into IS NOT NULL;

-- Names of projects: keys, remotes, folders and earlier names, in the form in which they are compared.
CREATE TABLE project_names (
  org text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  home text COLLATE "C" NOT NULL, -- the key under which entries with this name are stored
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('short', 'remote', 'folder', 'other')),
  segment text COLLATE "C" NOT NULL, -- the last segment of the name
  spelling text COLLATE "C" NOT NULL, -- the key of a project that the name would have by itself
  owner text COLLATE "C" NOT NULL, -- whose call used the name first; '' for none
  narrow integer NOT NULL, -- attached by a narrowed key: it holds for narrowed keys alone
  seq bigint NOT NULL, -- the change of the directory that gave it
  created_at bigint NOT NULL,
  PRIMARY KEY (org, name, home)
);

CREATE INDEX project_names_segment_idx ON project_names (org, segment, home);

CREATE INDEX project_names_home_idx ON project_names (org, home);

-- Each change of the directory of projects, so that it can be undone. The highest number is the version of the directory.
CREATE TABLE project_changes (
  org text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  at bigint NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  action text COLLATE "C" NOT NULL,
  detail text NOT NULL, -- JSON: what was and what is
  undone_by bigint, -- the number of the change that undid it
  PRIMARY KEY (org, seq)
);

CREATE TABLE api_keys (
  id text COLLATE "C" PRIMARY KEY,
  org text COLLATE "C" NOT NULL,
  name text NOT NULL,
  hash text COLLATE "C" NOT NULL UNIQUE, -- SHA-256 of the key, hexadecimal; the key itself is not stored
  role text NOT NULL CHECK (role IN ('reader', 'writer', 'admin')),
  projects text, -- JSON list; null for all projects
  agent text,
  owner text NOT NULL,
  created_at bigint NOT NULL,
  created_by text NOT NULL,
  expires_at bigint,
  revoked_at bigint,
  last_used_at bigint,
  captures integer NOT NULL DEFAULT 1, -- whether events sent with this key are captured
  email text COLLATE "C", -- address whose verified holder signs in as this key; null for none
  -- Limits of this key; null for those of the deployment alone.
  rate_limit bigint, -- requests a minute
  max_entries bigint, -- entries that it may store a day (UTC)
  counted_as text COLLATE "C" -- the key whose counts it continues; null for its own
);

CREATE INDEX api_keys_org_created_at_idx ON api_keys (org, created_at, id);

CREATE INDEX api_keys_org_created_by_idx ON api_keys (org, created_by);

CREATE INDEX api_keys_email_idx ON api_keys (email) WHERE email IS NOT NULL;

-- Entries that keys with a quota stored on the last day on which they stored one. The batch of each write updates its row.
CREATE TABLE key_stored_entries (
  org text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  day bigint NOT NULL, -- days since 1970, UTC
  entries bigint NOT NULL,
  PRIMARY KEY (org, key_id)
);

-- Names of owners, including deleted ones: a name is never given to a second person, who would inherit private entries.
CREATE TABLE owners (
  org text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  PRIMARY KEY (org, name)
);

-- The last time an owner asked for context, per project ('' for none), and the newest entry of the organization at that time.
CREATE TABLE last_seen (
  org text COLLATE "C" NOT NULL,
  owner text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL, -- '' for a key without one
  project text COLLATE "C" NOT NULL,
  session text COLLATE "C" NOT NULL, -- '' for a call without one
  seen_at bigint NOT NULL, -- milliseconds since 1970
  last_id bigint NOT NULL,
  PRIMARY KEY (org, owner, agent, project, session)
);

CREATE INDEX last_seen_owner_seen_at_idx ON last_seen (org, owner, seen_at DESC);

CREATE INDEX last_seen_agent_seen_at_idx ON last_seen (org, owner, agent, project, seen_at DESC);

-- The audit log. Numbered per organization, so that numbers reveal nothing about other organizations.
CREATE TABLE audit (
  org text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  at bigint NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  agent text,
  action text NOT NULL,
  tool text,
  ids text NOT NULL, -- JSON list of entry IDs
  allowed integer NOT NULL CHECK (allowed IN (0, 1)),
  detail text NOT NULL, -- JSON object of counts and codes, never text
  bytes bigint GENERATED ALWAYS AS (octet_length(ids || detail || action || key_id)) STORED,
  bytes_before bigint NOT NULL, -- of all earlier rows of the organization
  times bigint, -- the number of equal denials or reads in this row; null if each call has its own row
  PRIMARY KEY (org, seq)
);

-- Repeated denials and reads: the row that counts them.
CREATE INDEX audit_repeated_idx ON audit (org, key_id, action, at) WHERE times IS NOT NULL;

-- While it has a row, older rows of the audit log may be deleted. The row exists only inside the transaction of a purge.
CREATE TABLE audit_purge (before bigint PRIMARY KEY);

-- Entries
-- -------

CREATE TABLE entries (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  org text COLLATE "C" NOT NULL,
  thread_id text COLLATE "C" NOT NULL,
  source text COLLATE "C" NOT NULL CHECK (source IN ('user', 'agent')),
  layer integer NOT NULL CHECK (layer IN (1, 2, 3)),
  version integer NOT NULL DEFAULT 1,
  created_at bigint NOT NULL, -- milliseconds since 1970
  updated_at bigint NOT NULL,
  created_second bigint GENERATED ALWAYS AS (created_at / 1000) STORED,
  -- Extracted from metadata by each write that changes it.
  named_kind text COLLATE "C",
  tag_kind text COLLATE "C",
  work_item integer NOT NULL DEFAULT 0,
  kind text COLLATE "C" GENERATED ALWAYS AS (
    coalesce(named_kind, tag_kind, CASE WHEN work_item = 1 THEN 'task' WHEN source = 'user' THEN 'episode' ELSE 'note' END)
  ) STORED,
  title text COLLATE "C",
  project text COLLATE "C",
  domain text COLLATE "C",
  agent text COLLATE "C",
  audience text COLLATE "C" NOT NULL DEFAULT 'org' CHECK (audience IN ('org', 'project', 'private')),
  diary integer NOT NULL DEFAULT 0,
  status text COLLATE "C",
  confidence double precision,
  -- The life cycle: named_* from metadata, given_* from arguments and use, layer_* from the layer. It never changes metadata.
  named_weight integer,
  given_weight integer NOT NULL DEFAULT 3,
  weight integer GENERATED ALWAYS AS (coalesce(named_weight, given_weight)) STORED,
  named_pinned integer,
  given_pinned integer NOT NULL DEFAULT 0,
  pinned integer GENERATED ALWAYS AS (coalesce(named_pinned, given_pinned)) STORED,
  named_expires_at bigint,
  layer_expires_at bigint,
  expires_at bigint GENERATED ALWAYS AS (least(named_expires_at, layer_expires_at)) STORED,
  archived integer NOT NULL DEFAULT 0,
  captured integer NOT NULL DEFAULT 0, -- written by hooks and awaiting approval; such an entry is archived too
  owner text COLLATE "C",
  created_by text COLLATE "C" NOT NULL,
  imported_from text, -- the creator that an imported file names
  addresses_agent integer NOT NULL DEFAULT 0, -- the text looks like instructions for an agent
  approved_by text, -- the key of the person who approved the version below
  approved_version bigint,
  -- The key and agent that made the current version, and whether it was a restore.
  changed_by text COLLATE "C",
  changed_agent text COLLATE "C",
  restored integer NOT NULL DEFAULT 0,
  -- The reader: '' for everyone in the organization, or one owner.
  reader text COLLATE "C" GENERATED ALWAYS AS (
    CASE WHEN audience = 'private' OR diary = 1 THEN coalesce(owner, created_by) ELSE '' END
  ) STORED,
  -- Whether lists, searches and counts include it. Diary pages and archived entries are read by ID.
  listed integer GENERATED ALWAYS AS (CASE WHEN archived = 1 OR diary = 1 THEN 0 ELSE 1 END) STORED,
  -- Statistics of reads, which make no version and no change.
  accessed_at bigint,
  access_count integer NOT NULL DEFAULT 0,
  text_hash text COLLATE "C" NOT NULL,
  bytes integer NOT NULL, -- of text and metadata, in UTF-8
  text_words integer NOT NULL, -- content words, for ranking
  image_count integer NOT NULL DEFAULT 0,
  tags text NOT NULL DEFAULT '[]', -- JSON list, normalized and sorted
  links text, -- JSON [[relation, to]]: links in metadata whose targets the writer could read
  images text, -- JSON list of image references
  metadata text, -- JSON as it was sent; null if there was none
  metadata_json jsonb GENERATED ALWAYS AS (metadata::jsonb) STORED, -- compared by filters
  summary text NOT NULL DEFAULT '',
  text text COLLATE "C" NOT NULL -- empty if the text is in long_texts
);

-- Texts that look like instructions for an agent, for review.
CREATE INDEX entries_addresses_agent_idx ON entries (org, id) WHERE addresses_agent = 1;

-- Lists, newest first. These indexes contain the columns of the access check, so that lists read no row for it.
CREATE INDEX entries_created_idx ON entries (org, created_second DESC, id DESC) INCLUDE (expires_at, reader, project)
  WHERE listed = 1;

CREATE INDEX entries_thread_created_idx ON entries (org, thread_id, created_second DESC, id DESC)
  INCLUDE (expires_at, reader, project, source) WHERE listed = 1;

CREATE INDEX entries_thread_position_idx ON entries (org, thread_id, id) INCLUDE (expires_at, reader, project) WHERE listed = 1;

CREATE INDEX entries_images_idx ON entries (org, created_second DESC, id DESC)
  INCLUDE (expires_at, reader, project, image_count) WHERE listed = 1 AND image_count > 0;

-- Text scans, newest first, under any filter.
CREATE INDEX entries_org_id_idx ON entries (org, id DESC) INCLUDE (expires_at, reader, project) WHERE listed = 1;

-- Searches by frequent words, shortest first (src/adapters/postgres/word-combinations.ts). D1's full-text index is read in the order of IDs.
CREATE INDEX entries_length_idx ON entries (
  org, width_bucket(text_words, '{4,8,12,17,23,30,38,48,60,75,95,125,170,250,450}'::integer[]), id DESC
) WHERE listed = 1;

-- The newest message of a thread, which a repeated store compares with.
CREATE INDEX entries_thread_source_idx ON entries (org, thread_id, source, id);

-- Lists of memories: the newest of a layer, in one project or in all.
CREATE INDEX entries_layer_created_idx ON entries (org, layer, created_at DESC, id DESC)
  INCLUDE (project, expires_at, reader, kind, pinned, text_words) WHERE listed = 1;

CREATE INDEX entries_project_layer_created_idx ON entries (org, project, layer, created_at DESC, id DESC)
  INCLUDE (expires_at, reader, kind, pinned, text_words) WHERE listed = 1;

-- The newest memories of each kind.
CREATE INDEX entries_project_layer_kind_idx ON entries (org, project, layer, kind, created_at DESC, id DESC)
  INCLUDE (expires_at, reader) WHERE listed = 1;

CREATE INDEX entries_kind_layer_3_idx ON entries (org, kind, created_at DESC, id DESC) INCLUDE (expires_at, reader, project)
  WHERE listed = 1 AND layer = 3;

-- Entries that expire, which the counters of layers leave out.
CREATE INDEX entries_layer_expires_at_idx ON entries (org, layer, project, expires_at) INCLUDE (reader, kind, pinned, text_words)
  WHERE listed = 1 AND expires_at IS NOT NULL;

-- Expired entries, which the schedule deletes organization by organization.
CREATE INDEX entries_org_expires_at_idx ON entries (org, expires_at) WHERE expires_at IS NOT NULL;

-- Entries whose weight decays, in all organizations.
CREATE INDEX entries_decay_idx ON entries (id) WHERE layer = 3 AND archived = 0;

-- Pinned memories, for the start of a session.
CREATE INDEX entries_pinned_idx ON entries (org, project, created_at DESC, id DESC) WHERE listed = 1 AND pinned = 1;

-- Context packs: open work of a project, and the diary of an agent. The index holds the first 64 characters of an agent's name.
CREATE INDEX entries_open_work_idx ON entries (org, project, updated_at DESC, id DESC) INCLUDE (kind, expires_at, reader)
  WHERE listed = 1 AND status IN ('doing', 'blocked', 'review');

CREATE INDEX entries_diary_idx ON entries (org, reader, substr(agent, 1, 64), created_at DESC, id DESC)
  WHERE diary = 1 AND archived = 0;

-- Memories of the organization about a file, by the two metadata fields that name one. The index holds the first 256 characters of a
-- path.
CREATE INDEX entries_file_path_idx ON entries (
    org,
    substr(
      CASE
        WHEN jsonb_typeof(metadata_json -> 'fileContext' -> 'path') = 'string' THEN (metadata_json -> 'fileContext' ->> 'path') COLLATE "C" END, 1, 256
    )
  )
  WHERE listed = 1 AND layer = 3;

CREATE INDEX entries_code_file_path_idx ON entries (
    org,
    substr(
      CASE
        WHEN jsonb_typeof(metadata_json -> 'codeBlock' -> 'filePath') = 'string' THEN (metadata_json -> 'codeBlock' ->> 'filePath') COLLATE "C" END,
      1, 256
    )
  )
  WHERE listed = 1 AND layer = 3;

-- Duplicates: memories with the same text, and problems that are reported again. The organization is the last column, because PostgreSQL
-- without statistics prefers an index that begins with it.
CREATE INDEX entries_text_hash_idx ON entries (substr(text_hash, 1, 16), org, layer) WHERE listed = 1;

CREATE INDEX entries_problem_idx ON entries (
    (CASE WHEN jsonb_typeof(metadata_json -> 'problem') = 'string' THEN (metadata_json ->> 'problem') COLLATE "C" END), org
  )
  WHERE listed = 1 AND layer = 2
    AND CASE WHEN jsonb_typeof(metadata_json -> 'problem') = 'string' THEN (metadata_json ->> 'problem') COLLATE "C" END IS NOT NULL;

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
  org text COLLATE "C" NOT NULL,
  tag text COLLATE "C" NOT NULL,
  layer integer NOT NULL,
  project text COLLATE "C" NOT NULL, -- '' for none
  entry_id bigint NOT NULL,
  created_at bigint NOT NULL,
  kind text COLLATE "C" NOT NULL,
  reader text COLLATE "C" NOT NULL,
  expires_at bigint,
  listed integer NOT NULL,
  PRIMARY KEY (org, tag, layer, project, entry_id) INCLUDE (created_at, kind, reader, expires_at, listed)
);

-- With all columns of its queries, so that PostgreSQL without statistics does not prefer the primary key.
CREATE INDEX entry_tags_entry_idx ON entry_tags (entry_id, org) INCLUDE (tag);

-- The images of entries. A stored version uses images too, with its negative ID as entry_id.
CREATE TABLE image_uses (
  org text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL,
  entry_id bigint NOT NULL,
  size bigint NOT NULL,
  mime_type text NOT NULL,
  PRIMARY KEY (org, hash, entry_id)
);

CREATE INDEX image_uses_entry_idx ON image_uses (entry_id);

-- The images that an organization uses.
CREATE VIEW images_in_use AS SELECT org, hash FROM image_uses;

-- Images whose removal has begun, so that their bytes may be missing. A write that uploaded bytes before the removal is refused.
CREATE TABLE image_removals (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, -- new for each removal
  org text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  UNIQUE (org, hash)
);

CREATE INDEX image_removals_at_idx ON image_removals (at);

-- Links between entries. A link is deleted with the entry that it starts from. Its target may be deleted: readers check both ends, so
-- that a delete does not touch the links of others, and a restored entry has its links again. The origin is the feature that made the
-- link; each origin has rows of its own.
CREATE TABLE links (
  org text COLLATE "C" NOT NULL,
  from_id bigint NOT NULL,
  relation text COLLATE "C" NOT NULL,
  to_id bigint NOT NULL,
  origin text COLLATE "C" NOT NULL DEFAULT 'metadata' CHECK (origin IN ('metadata', 'remember', 'system')),
  -- The key that made the link, '' for none, null if unknown. Whether an entry supersedes another for everyone depends on it, since a
  -- later writer of the entry did not make its links.
  made_by text COLLATE "C",
  PRIMARY KEY (org, from_id, relation, to_id, origin)
);

-- Links to an entry, in the order of a context pack.
CREATE INDEX links_target_idx ON links (to_id, from_id, org, relation);

-- Links that supersede or contradict an entry.
CREATE INDEX links_conflicts_idx ON links (to_id, relation, from_id) WHERE relation = 'supersedes' OR relation = 'contradicts';

-- Deleted entries that cannot be restored although links lead to them. The schedule deletes these links in chunks.
CREATE TABLE dangling_links (
  entry_id bigint PRIMARY KEY,
  org text COLLATE "C" NOT NULL
);

-- Texts of more than 16,384 bytes, by hash (src/domain/entry/long-text.ts), so that updates of an entry do not rewrite them and versions
-- share them. A call that writes many megabytes stores its texts first; a row of the outbox (topic 'text') preserves them until the
-- entry exists.
CREATE TABLE long_texts (
  org text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL,
  text text COLLATE "C" NOT NULL,
  PRIMARY KEY (org, hash)
);

-- The length of a long text and the offsets of its lines. A row is valid for the text with this hash; short texts have none.
CREATE TABLE text_line_index (
  entry_id bigint PRIMARY KEY,
  text_hash text COLLATE "C" NOT NULL,
  chars integer NOT NULL,
  lines integer NOT NULL,
  starts text NOT NULL -- JSON list of offsets
);

-- Change log, history and receipts
-- --------------------------------

-- The log of changes to entries, in the order of commits. Within a batch the newest row of an organization is the entry just written.
CREATE TABLE changes (
  seq bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  org text COLLATE "C" NOT NULL,
  entry_id bigint NOT NULL,
  action text NOT NULL CHECK (action IN ('store', 'update', 'delete')),
  version integer NOT NULL,
  at bigint NOT NULL,
  -- The call, its key and agent.
  change_id text COLLATE "C",
  key_id text COLLATE "C",
  agent text COLLATE "C",
  -- The entry after the change; for a delete, as it was. The reader is null if lists do not show it.
  thread_id text COLLATE "C",
  project text COLLATE "C",
  kind text COLLATE "C",
  reader text COLLATE "C",
  -- The entry before the change; null for a new entry.
  was_thread text COLLATE "C",
  was_project text COLLATE "C",
  was_kind text COLLATE "C",
  was_reader text COLLATE "C",
  erased integer NOT NULL DEFAULT 0,
  -- The reader of a deleted entry, also if lists did not show it: this reader may erase its history.
  last_reader text COLLATE "C"
);

CREATE INDEX changes_org_seq_idx ON changes (org, seq);

-- The changes of an entry, by its ID alone, which is unique in the database.
CREATE INDEX changes_entry_idx ON changes (entry_id, org);

-- Deleted entries of a thread, for erasure.
CREATE INDEX changes_deleted_thread_idx ON changes (org, was_thread, entry_id) WHERE action = 'delete' AND erased = 0;

-- The newest row of the change log that was purged, per organization. Older cursors have expired.
CREATE TABLE feed_retention (
  org text COLLATE "C" PRIMARY KEY,
  purged_seq bigint NOT NULL
);

-- The call that writes, for triggers. Each batch that writes entries begins with its row, which stays until the next batch of the
-- organization, since a delete is a row written too.
CREATE TABLE write_context (
  org text COLLATE "C" PRIMARY KEY,
  change_id text COLLATE "C" NOT NULL, -- random; one per call
  key_id text COLLATE "C",
  agent text COLLATE "C",
  retain_versions integer NOT NULL DEFAULT 0, -- whether past versions are stored
  after_seq bigint NOT NULL, -- the newest row of `changes` before the batch
  at bigint,
  batch_output text, -- JSON of what the batch found out, for the receipt; exists only within the batch
  -- The usage of the organization before the batch, where it has quotas: a write that adds nothing is never refused.
  items_before bigint,
  bytes_before bigint
);

-- Entries of a call that deletes more than one transaction can: invisible from its commit on, and removed in chunks.
CREATE TABLE pending_deletes (
  entry_id bigint PRIMARY KEY,
  org text COLLATE "C" NOT NULL,
  part integer NOT NULL, -- from 1; one part is one transaction
  -- The call, as in `write_context`.
  change_id text COLLATE "C" NOT NULL,
  key_id text COLLATE "C",
  agent text COLLATE "C",
  at bigint,
  retain_versions integer NOT NULL,
  erase_history integer NOT NULL -- whether their history is erased too
);

CREATE INDEX pending_deletes_change_idx ON pending_deletes (org, change_id, part);

-- Past versions of entries, where history is retained (write_context.retain_versions).
CREATE TABLE entry_versions (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, -- in the order of commits
  entry_id bigint NOT NULL,
  -- The entry as it was, with the columns of `entries`.
  org text COLLATE "C" NOT NULL,
  thread_id text COLLATE "C" NOT NULL,
  source text COLLATE "C" NOT NULL,
  layer integer NOT NULL,
  version integer NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  named_kind text COLLATE "C",
  tag_kind text COLLATE "C",
  work_item integer NOT NULL,
  title text COLLATE "C",
  project text COLLATE "C",
  domain text COLLATE "C",
  agent text COLLATE "C",
  audience text COLLATE "C" NOT NULL,
  diary integer NOT NULL,
  status text COLLATE "C",
  given_weight integer NOT NULL,
  given_pinned integer NOT NULL,
  named_weight integer,
  named_pinned integer,
  named_expires_at bigint,
  layer_expires_at bigint,
  confidence double precision,
  archived integer NOT NULL,
  owner text COLLATE "C",
  created_by text COLLATE "C" NOT NULL,
  imported_from text,
  text_hash text COLLATE "C" NOT NULL,
  bytes integer NOT NULL,
  text_words integer NOT NULL,
  image_count integer NOT NULL,
  tags text NOT NULL,
  links text,
  images text,
  metadata text,
  summary text NOT NULL,
  changed_by text COLLATE "C",
  changed_agent text COLLATE "C",
  restored integer NOT NULL,
  text text COLLATE "C", -- null if the next version has the same text
  -- The change that ended the version.
  ended_at bigint NOT NULL,
  ended_version integer NOT NULL, -- the next version; a delete is a version too
  changed integer NOT NULL, -- bits in the order of src/domain/history/version.ts
  deleted integer NOT NULL,
  ended_by text COLLATE "C",
  ended_agent text COLLATE "C",
  change_id text COLLATE "C" NOT NULL,
  edges text, -- for a deleted entry: JSON [[from, relation, to, origin, made_by]], its deleted links
  size bigint NOT NULL, -- bytes stored in this row
  kind text COLLATE "C" GENERATED ALWAYS AS (
    coalesce(named_kind, tag_kind, CASE WHEN work_item = 1 THEN 'task' WHEN source = 'user' THEN 'episode' ELSE 'note' END)
  ) STORED,
  reader text COLLATE "C" GENERATED ALWAYS AS (
    CASE WHEN audience = 'private' OR diary = 1 THEN coalesce(owner, created_by) ELSE '' END
  ) STORED,
  expires_at bigint GENERATED ALWAYS AS (
    CASE WHEN named_expires_at IS NULL OR layer_expires_at < named_expires_at THEN layer_expires_at ELSE named_expires_at END
  ) STORED
);

CREATE UNIQUE INDEX entry_versions_entry_version_idx ON entry_versions (entry_id, version);

CREATE INDEX entry_versions_deleted_change_idx ON entry_versions (org, change_id, entry_id) WHERE deleted = 1;

CREATE INDEX entry_versions_long_text_idx ON entry_versions (org, text_hash) WHERE bytes > 16384;

-- The oldest versions of an organization, which are deleted first when it is full. The condition is always true: it prevents other
-- queries from using this index.
CREATE INDEX entry_versions_org_idx ON entry_versions (org, id) WHERE id > 0;

-- Deleted entries of a thread, for erasure.
CREATE INDEX entry_versions_deleted_thread_idx ON entry_versions (org, thread_id, entry_id) WHERE deleted = 1;

-- Deleted entries by ID, for exports.
CREATE INDEX entry_versions_deleted_entry_idx ON entry_versions (org, entry_id) WHERE deleted = 1;

-- Idempotency keys: the outcome of each call with a key, written in the batch of the call, so that a repeated call gets the same answer.
CREATE TABLE receipts (
  org text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  tool text COLLATE "C" NOT NULL,
  digest text COLLATE "C" NOT NULL, -- of the arguments
  change_id text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  effect text, -- JSON [[entry ID, version]], the first few hundred; negative versions are deletes
  changes bigint NOT NULL DEFAULT 0, -- the number of changes
  answer text, -- JSON; only if the columns below do not contain it, or if the call wrote nothing
  erased integer NOT NULL DEFAULT 0,
  notes text, -- JSON of what the call found out before its batch
  batch_output text, -- JSON of what the batch found out
  text text, -- a text of the answer that is not in the arguments
  bytes bigint GENERATED ALWAYS AS (
    octet_length(coalesce(effect, '')) + octet_length(coalesce(answer, '')) + octet_length(coalesce(notes, ''))
      + octet_length(coalesce(batch_output, '')) + octet_length(coalesce(text, ''))
  ) STORED,
  PRIMARY KEY (org, key_id, key)
);

CREATE INDEX receipts_at_idx ON receipts (at);

-- Erasure finds the receipts of the calls that wrote an entry.
CREATE INDEX receipts_change_idx ON receipts (org, change_id);

-- Full-text search
-- ----------------

-- The full-text index. It holds terms and no copy of the text: words are already folded and stemmed (src/domain/search/analysis.ts), so
-- that no parser of PostgreSQL processes them. A language that only PostgreSQL can stem uses its Snowball dictionary, word by word.
CREATE TABLE entries_fts (
  entry_id bigint PRIMARY KEY,
  words tsvector NOT NULL,
  -- The terms of text, date and agent, title and code in order, for phrases: a tsvector has no positions beyond 16,383.
  body text COLLATE "C" NOT NULL,
  context text COLLATE "C" NOT NULL,
  length integer NOT NULL DEFAULT 0, -- content words of the text, to choose candidates without reading the entry
  title text COLLATE "C" NOT NULL DEFAULT '',
  code text COLLATE "C" NOT NULL DEFAULT '',
  written text COLLATE "C" -- words of text, date and agent as written; null if words are not stemmed
);

COMMENT ON COLUMN entries_fts.words IS
  'stems of body and context, weight A if the stem is itself a word of them; /scope, length and sample, =word unlike its stem, ^title, #code';

CREATE INDEX entries_fts_words_idx ON entries_fts USING gin (words) WITH (fastupdate = off);

-- Patterns, procedures and rules with their languages and files, in narrow rows. The kinds are those of domain/recall/current.ts. A path
-- of more than 1,024 characters is ignored.
CREATE TABLE patterns (
  org text COLLATE "C" NOT NULL,
  layer integer NOT NULL,
  project text COLLATE "C" NOT NULL, -- '' for none
  entry_id bigint NOT NULL,
  reader text COLLATE "C" NOT NULL,
  expires_at bigint,
  language text COLLATE "C" NOT NULL, -- in lower case, the first 100 characters
  file text COLLATE "C",
  folder text COLLATE "C", -- up to and including the last / or \
  ending text COLLATE "C", -- without the dot, in lower case
  code_file text COLLATE "C",
  code_folder text COLLATE "C",
  code_ending text COLLATE "C",
  PRIMARY KEY (org, layer, project, entry_id)
);

CREATE INDEX patterns_entry_idx ON patterns (entry_id);

CREATE FUNCTION is_pattern(kind text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT kind IN ('pattern', 'procedure', 'template', 'tool', 'code_pattern', 'rule', 'guide', 'convention')
$$;

CREATE FUNCTION json_string_at(metadata_json jsonb, member text, name text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN jsonb_typeof(metadata_json -> member -> name) = 'string' THEN (metadata_json -> member ->> name) COLLATE "C" END
$$;

CREATE FUNCTION file_folder(path text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN path IS NOT NULL THEN coalesce(substring(path FROM '^.*[/\\]'), '') END
$$;

CREATE FUNCTION file_extension(path text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT lower(substring(path FROM '\.([^./\\]*)$') COLLATE "C")
$$;

-- The rows that `patterns` must have.
CREATE VIEW pattern_rows AS
  SELECT e.org, e.layer, coalesce(e.project, '') AS project, e.id AS entry_id, e.reader, e.expires_at,
    lower(substr(
      coalesce(json_string_at(e.metadata_json, 'codeBlock', 'language'), json_string_at(e.metadata_json, 'fileContext', 'language'), 'text')
        COLLATE "C", 1, 100
    )) AS language,
    file.path AS file, file_folder(file.path) AS folder, file_extension(file.path) AS ending,
    code.path AS code_file, file_folder(code.path) AS code_folder, file_extension(code.path) AS code_ending
  FROM entries e
    CROSS JOIN LATERAL (
      SELECT CASE WHEN length(at.path) <= 1024 THEN at.path END AS path
        FROM (SELECT json_string_at(e.metadata_json, 'fileContext', 'path') AS path) AS at
    ) AS file
    CROSS JOIN LATERAL (
      SELECT CASE WHEN length(at.path) <= 1024 THEN at.path END AS path
        FROM (SELECT json_string_at(e.metadata_json, 'codeBlock', 'filePath') AS path) AS at
    ) AS code
  WHERE e.listed = 1 AND e.layer IN (2, 3) AND is_pattern(e.kind);

-- Vectors
-- -------

-- The values of a quantized vector, -127 to 127, which halfvec stores exactly.
CREATE FUNCTION quantized_values(data text) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
  SELECT decode(split_part(data, ':', 2), 'base64')
$$;

CREATE FUNCTION to_embedding(data text) RETURNS halfvec LANGUAGE plpgsql IMMUTABLE SET search_path FROM CURRENT AS $$
DECLARE
  bytes bytea := quantized_values(data);
  numbers integer[] := array_fill(0, ARRAY[length(bytes)]);
  byte integer;
BEGIN
  -- Much faster than an aggregate query.
  FOR place IN 1..length(bytes) LOOP
    byte := get_byte(bytes, place - 1);
    numbers[place] := CASE WHEN byte > 127 THEN byte - 256 ELSE byte END;
  END LOOP;
  RETURN numbers::halfvec;
END $$;

-- Embeddings, one row per chunk of a text. Every vector index is rebuilt from them. The columns of the access check are copied from the
-- entry, so that a search in one project does not read the vectors of others.
CREATE TABLE entry_vectors (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, -- never reused: a changed text gets new rows
  org text COLLATE "C" NOT NULL,
  entry_id bigint NOT NULL,
  model text COLLATE "C" NOT NULL, -- model and dimensions (src/domain/meaning/vector.ts)
  chunk integer NOT NULL,
  start integer NOT NULL, -- in code points of the text
  length integer NOT NULL,
  layer integer, -- null if no list shows the entry
  project text COLLATE "C", -- '' for none
  reader text COLLATE "C",
  data text NOT NULL, -- scale and int8 values as text, as on D1
  dimensions integer GENERATED ALWAYS AS (split_part(model, '#', -1)::integer) STORED,
  embedding halfvec GENERATED ALWAYS AS (to_embedding(data)) STORED,
  is_indexed boolean NOT NULL DEFAULT false, -- whether the HNSW index contains it
  UNIQUE (entry_id, model, chunk)
);

CREATE INDEX entry_vectors_org_model_idx ON entry_vectors (org, model, id);

CREATE INDEX entry_vectors_unindexed_idx ON entry_vectors (org, model) WHERE NOT is_indexed;

-- The partition that a search reads, as one value, so that PostgreSQL uses no other index. Layer 3 belongs to all projects.
CREATE FUNCTION vector_partition(org text, model text, layer integer, project text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT (layer::text || CASE WHEN layer = 3 THEN '' ELSE ' ' || project END || E'\n' || model || E'\n' || org) COLLATE "C"
$$;

CREATE INDEX entry_vectors_partition_idx ON entry_vectors (vector_partition(org, model, layer, project)) WHERE layer IS NOT NULL;

-- The number of vectors per organization and model.
CREATE TABLE vector_spaces (
  org text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  vectors bigint NOT NULL,
  PRIMARY KEY (org, model)
);

-- The number of vectors of an organization and model that a search compares without an index: exact, and as fast. To insert a vector
-- into an HNSW index costs more than the rest of a write.
CREATE FUNCTION max_unindexed_vectors() RETURNS bigint LANGUAGE sql IMMUTABLE AS $$ SELECT 10000::bigint $$;

-- Deleted vectors that an external vector index must still delete.
CREATE TABLE vector_removals (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  org text COLLATE "C" NOT NULL,
  vector_id bigint NOT NULL
);

CREATE INDEX vector_removals_org_idx ON vector_removals (org, id);

-- Usage and counters
-- ------------------
-- Triggers maintain these tables, so that totals and statistics cost the same in a store of any size. Rows are counted by access scope:
-- project and reader.

-- Items and bytes per organization and part: images, receipts, code and capture. An image counts once per organization. The part audit
-- holds what repeated calls added to rows of the audit log other than the newest.
CREATE TABLE usage_counters (
  org text COLLATE "C" NOT NULL,
  part text COLLATE "C" NOT NULL,
  items bigint NOT NULL,
  bytes bigint NOT NULL,
  PRIMARY KEY (org, part)
);

-- Totals of each thread, for lists of threads.
CREATE TABLE thread_counters (
  org text COLLATE "C" NOT NULL,
  thread_id text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL, -- '' for none
  reader text COLLATE "C" NOT NULL,
  entries bigint NOT NULL,
  user_entries bigint NOT NULL,
  multimodal bigint NOT NULL,
  bytes bigint NOT NULL,
  words bigint NOT NULL,
  first_second bigint NOT NULL,
  last_second bigint NOT NULL,
  first_id bigint NOT NULL,
  last_id bigint NOT NULL,
  PRIMARY KEY (org, thread_id, project, reader)
);

-- Threads as resources, last used first.
CREATE INDEX thread_counters_last_used_idx ON thread_counters (org, last_second, last_id, reader, project);

-- Entries without an expiry, by layer, kind and pin. Entries with an expiry are counted by the query.
CREATE TABLE layer_counters (
  org text COLLATE "C" NOT NULL,
  layer integer NOT NULL,
  project text COLLATE "C" NOT NULL, -- '' for none
  reader text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  pinned integer NOT NULL,
  entries bigint NOT NULL,
  words bigint NOT NULL,
  first_id bigint NOT NULL, -- the range of their IDs, which may be too wide
  last_id bigint NOT NULL,
  PRIMARY KEY (org, layer, project, reader, kind, pinned)
);

-- Totals of entries, for get_statistics and quotas: of those that lists show, and of the others.
CREATE TABLE entry_counters (
  org text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL, -- '' for none
  reader text COLLATE "C" NOT NULL,
  listed integer NOT NULL,
  entries bigint NOT NULL,
  user_entries bigint NOT NULL,
  multimodal bigint NOT NULL,
  bytes bigint NOT NULL,
  images bigint NOT NULL,
  summaries bigint NOT NULL,
  PRIMARY KEY (org, project, reader, listed)
);

CREATE TABLE tag_counters (
  org text COLLATE "C" NOT NULL,
  tag text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL,
  reader text COLLATE "C" NOT NULL,
  uses bigint NOT NULL,
  PRIMARY KEY (org, tag, project, reader)
);

-- Totals of vectors, for get_statistics.
CREATE TABLE vector_counters (
  org text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL,
  reader text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  entries bigint NOT NULL, -- entries with a first chunk
  vectors bigint NOT NULL,
  bytes bigint NOT NULL,
  PRIMARY KEY (org, project, reader, model)
);

-- Totals of versions, for get_statistics.
CREATE TABLE version_counters (
  org text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL, -- '' for none
  reader text COLLATE "C" NOT NULL,
  versions bigint NOT NULL,
  bytes bigint NOT NULL,
  PRIMARY KEY (org, project, reader)
);

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

-- How much each key is used, per day and project, for administrators. Isolates add their counts once a minute. Work that belongs to no key
-- (the schedule, pages, refused requests) has the organization ''.
CREATE TABLE key_usage (
  org text COLLATE "C" NOT NULL,
  day bigint NOT NULL, -- days since 1970, UTC
  key_id text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL, -- '' for none
  requests bigint NOT NULL, -- of HTTP; a run of the schedule is one
  calls bigint NOT NULL,
  failed bigint NOT NULL,
  entries bigint NOT NULL, -- stored or changed
  rows_read bigint NOT NULL,
  rows_written bigint NOT NULL,
  tokens bigint NOT NULL, -- of the answers, at four characters each
  PRIMARY KEY (org, day, key_id, project)
);

CREATE INDEX key_usage_day_idx ON key_usage (day);

-- Background work
-- ---------------

-- Work that depends on another service, written with the change that causes it and retried until it succeeds. A lease carries a token; a
-- worker without the current token cannot finish the work.
CREATE TABLE outbox (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  org text COLLATE "C" NOT NULL,
  topic text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'claimed', 'failed')), -- 'claimed': a worker holds the lease
  attempts integer NOT NULL DEFAULT 0,
  created_at bigint NOT NULL,
  due_at bigint NOT NULL,
  last_error text,
  token text COLLATE "C", -- of the last lease
  UNIQUE (org, topic, key)
);

CREATE INDEX outbox_topic_due_at_idx ON outbox (topic, due_at, id);

-- Conditions that were reported to the webhook of the operator, while they hold.
CREATE TABLE sent_notices (
  org text COLLATE "C" NOT NULL,
  event text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL, -- '' for an event of the organization
  at bigint NOT NULL, -- milliseconds since 1970
  PRIMARY KEY (org, event, key_id)
);

-- The progress of each step of the schedule.
CREATE TABLE schedule (
  step text COLLATE "C" PRIMARY KEY,
  cursor text, -- the start of the next chunk; null for the beginning
  finished_at bigint, -- when all of it was last processed
  failures integer NOT NULL DEFAULT 0, -- since the last success
  last_error text
);

-- Calls of a chat model by background work, per day (UTC), so that the daily limit holds for all isolates.
CREATE TABLE model_calls (
  day bigint PRIMARY KEY, -- days since 1970
  calls bigint NOT NULL
);

-- Currency (docs/contracts/core.md §2.1)
-- --------------------------------------

-- Pairs of memories on one subject, of which the later one may replace the earlier one. A pair may outlive its memories: readers check
-- both, and the schedule deletes it.
CREATE TABLE memory_pairs (
  org text COLLATE "C" NOT NULL,
  later_id bigint NOT NULL,
  earlier_id bigint NOT NULL,
  verdict text CHECK (verdict IN ('replaces', 'contradicts', 'both_hold')), -- null until a judgement
  judged text, -- the contents of both that the verdict is about (src/domain/currency/pair.ts)
  attempts integer NOT NULL DEFAULT 0, -- of the model
  due_at bigint, -- when the model may judge it; null if judged or given up
  PRIMARY KEY (org, later_id, earlier_id)
);

CREATE INDEX memory_pairs_due_at_idx ON memory_pairs (due_at) WHERE due_at IS NOT NULL;

-- Source code
-- -----------
-- A file that changes is a new row with a new ID; all that was derived from it is deleted with the old row.

-- Counters of each project that has code.
CREATE TABLE code_projects (
  org text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL,
  files bigint NOT NULL DEFAULT 0,
  symbols bigint NOT NULL DEFAULT 0,
  chunks bigint NOT NULL DEFAULT 0,
  words bigint NOT NULL DEFAULT 0, -- content words of the chunks in the word index
  bytes bigint NOT NULL DEFAULT 0,
  pending bigint NOT NULL DEFAULT 0, -- files without vectors
  last_indexed bigint, -- the last upload, in milliseconds since 1970
  PRIMARY KEY (org, project)
);

CREATE TABLE code_files (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, -- never reused
  org text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL,
  root text COLLATE "C" NOT NULL, -- the folder or repository of the path; '' for none
  path text COLLATE "C" NOT NULL,
  language text COLLATE "C" NOT NULL,
  sha256 text COLLATE "C" NOT NULL, -- of the content as sent, before secrets were removed
  model text COLLATE "C", -- of its vectors; '' if none are wanted, null while they are pending
  bytes bigint NOT NULL,
  symbols bigint NOT NULL,
  chunks bigint NOT NULL,
  words bigint NOT NULL
);

-- A path may be longer than a row of an index, hence its hash.
CREATE UNIQUE INDEX code_files_path_idx ON code_files (org, project, root, md5(path));

CREATE INDEX code_files_pending_idx ON code_files (id) WHERE model IS NULL;

CREATE TABLE code_chunks (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  org text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL,
  file_id bigint NOT NULL REFERENCES code_files ON DELETE CASCADE,
  n integer NOT NULL, -- position in the file, from 0
  line_start integer NOT NULL, -- from 1, overlap included
  line_end integer NOT NULL,
  overlap text COLLATE "C" NOT NULL, -- lines of the previous chunk
  text text COLLATE "C" NOT NULL, -- lines of this chunk alone
  folded text COLLATE "C", -- the text in lower case, if it has letters other than A-Z
  UNIQUE (file_id, n)
);

-- Narrow rows, in the order of the project, because a search for a part of a name reads all of them.
CREATE TABLE code_symbols (
  org text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL,
  file_id bigint NOT NULL REFERENCES code_files ON DELETE CASCADE,
  n integer NOT NULL,
  kind integer NOT NULL, -- index in SYMBOL_KINDS
  name text COLLATE "C" NOT NULL,
  folded text COLLATE "C" NOT NULL,
  parts text COLLATE "C" NOT NULL, -- the words of a camelCase or snake_case name in lower case, each after a space
  path text COLLATE "C" NOT NULL,
  language text COLLATE "C" NOT NULL,
  line_start integer NOT NULL,
  PRIMARY KEY (org, project, file_id, n)
);

CREATE INDEX code_symbols_file_idx ON code_symbols (file_id);

CREATE TABLE code_symbol_texts (
  file_id bigint NOT NULL REFERENCES code_files ON DELETE CASCADE,
  n integer NOT NULL,
  line_end integer NOT NULL,
  signature text NOT NULL,
  doc text NOT NULL,
  PRIMARY KEY (file_id, n)
);

-- Embeddings of chunks, several per row, one per line of `data`, because a search compares all of a project.
CREATE TABLE code_vectors (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  org text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  file_id bigint NOT NULL REFERENCES code_files ON DELETE CASCADE,
  first integer NOT NULL, -- chunk of the first line
  count integer NOT NULL,
  data text NOT NULL
);

-- Compression saves little of Base64 and slows down reads.
ALTER TABLE code_vectors ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE INDEX code_vectors_project_idx ON code_vectors (org, project, model, id, count);

CREATE INDEX code_vectors_file_idx ON code_vectors (file_id);

-- Trigrams of each file, and words of each chunk. Every term begins with its project, so that a search never reads those of another
-- project.
CREATE TABLE code_grams (
  file_id bigint PRIMARY KEY REFERENCES code_files ON DELETE CASCADE,
  grams bigint[] NOT NULL
);

CREATE INDEX code_grams_grams_idx ON code_grams USING gin (grams);

CREATE TABLE code_words (
  chunk_id bigint PRIMARY KEY REFERENCES code_chunks ON DELETE CASCADE,
  words text[] NOT NULL
);

CREATE INDEX code_words_words_idx ON code_words USING gin (words);

-- Captured sessions (docs/contracts/capture.md)
-- ---------------------------------------------

-- The events of a session, by owner.
CREATE TABLE capture_sessions (
  org text COLLATE "C" NOT NULL,
  owner text COLLATE "C" NOT NULL,
  session text COLLATE "C" NOT NULL, -- '<client>:<id>', as in the name of its thread
  revision integer NOT NULL, -- incremented by each request, to detect concurrent requests
  project text COLLATE "C" NOT NULL, -- '' for none
  key_id text NOT NULL, -- of the last event
  agent text,
  state text NOT NULL, -- JSON (src/domain/capture/session-state.ts)
  written text, -- JSON of the last checkpoint: what, when, and the entry
  entry_id bigint, -- the entry of the session
  seen_at bigint NOT NULL, -- time of the last event
  claimed_at bigint, -- when a worker began to write it
  due_at bigint, -- when the schedule writes it; null if there is nothing to write
  PRIMARY KEY (org, owner, session)
);

CREATE INDEX capture_sessions_due_at_idx ON capture_sessions (due_at) WHERE due_at IS NOT NULL;

-- Events that arrived, with the text that was returned.
CREATE TABLE capture_events (
  org text COLLATE "C" NOT NULL,
  owner text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  output text, -- the returned text; null for none
  PRIMARY KEY (org, owner, id)
);

-- Returned texts contain words of entries, which may be erased.
CREATE INDEX capture_events_output_idx ON capture_events (org) WHERE output IS NOT NULL;

-- The digest of the text that the last session of an owner got at its start, per project and branch.
CREATE TABLE capture_start_digests (
  org text COLLATE "C" NOT NULL,
  owner text COLLATE "C" NOT NULL,
  place text COLLATE "C" NOT NULL, -- project and branch as JSON
  digest text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  PRIMARY KEY (org, owner, place)
);

-- What sessions did with the memories that were shown to them or that they opened: one row a session, without any words.
CREATE TABLE session_memories (
  org text COLLATE "C" NOT NULL,
  owner text COLLATE "C" NOT NULL,
  session text COLLATE "C" NOT NULL, -- '<client>:<id>'
  project text COLLATE "C" NOT NULL, -- '' for none
  at bigint NOT NULL, -- when it was last written
  memories text NOT NULL, -- JSON of [entry id, bits] (src/domain/capture/usage.ts)
  PRIMARY KEY (org, owner, session)
);

-- Export and import (docs/contracts/operate.md §2)
-- ------------------------------------------------

-- The random name of the store of an organization, which distinguishes its IDs from those of other stores.
CREATE TABLE transfer_stores (
  org text COLLATE "C" PRIMARY KEY,
  store text COLLATE "C" NOT NULL
);

-- The ID of each imported entry in its source. The row is written before the entry, so that an interrupted import continues with the
-- same IDs.
CREATE TABLE imported (
  org text COLLATE "C" NOT NULL,
  store text COLLATE "C" NOT NULL,
  their_id text COLLATE "C" NOT NULL,
  owner text COLLATE "C" NOT NULL, -- of the import; '' for ADMIN_TOKEN and open mode
  entry_id bigint NOT NULL,
  version integer NOT NULL, -- after the import; 0 before it
  at bigint NOT NULL, -- of the newest file with this entry, in milliseconds since 1970
  PRIMARY KEY (org, store, their_id, owner)
);

CREATE INDEX imported_entry_idx ON imported (entry_id);

-- References of imported entries to entries that were not imported yet.
CREATE TABLE import_references (
  org text COLLATE "C" NOT NULL,
  store text COLLATE "C" NOT NULL,
  their_id text COLLATE "C" NOT NULL, -- of the missing entry
  entry_id bigint NOT NULL, -- the entry with the reference
  relation text COLLATE "C" NOT NULL, -- '' for an ID in metadata
  origin text COLLATE "C" NOT NULL, -- '' for an ID in metadata
  PRIMARY KEY (org, store, their_id, entry_id, relation, origin)
);

CREATE INDEX import_references_entry_idx ON import_references (entry_id);

-- Vector search
-- -------------
-- Names of this schema for what queries use of pgvector, which may be installed in another schema.

-- An HNSW index for vectors of one size, of any model. Without one, a search compares all vectors of the organization.
CREATE FUNCTION create_vector_index(size integer) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON entry_vectors USING hnsw ((embedding::halfvec(%s)) halfvec_cosine_ops) WHERE dimensions = %s AND is_indexed', 'entry_vectors_' || size, size, size);
END $$;

-- The sizes of the models of the built-in providers.
SELECT create_vector_index(size) FROM unnest(ARRAY[384, 512, 768, 1024, 1536, 2048, 2560, 3072, 4000]) AS size;

CREATE FUNCTION to_halfvec(numbers text) RETURNS halfvec LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN numbers::halfvec;

CREATE FUNCTION inner_product_of(a halfvec, b halfvec) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN -(a <#> b);

CREATE FUNCTION cosine_distance_of(a halfvec, b halfvec) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a <=> b;

-- The nearest vectors of an organization in the index. Zero vectors have no direction and are not in the index.
CREATE FUNCTION nearest_indexed_vectors(of_org text, of_model text, query text, wanted integer)
RETURNS TABLE (id bigint, cosine double precision) LANGUAGE plpgsql STABLE
  SET search_path FROM CURRENT SET hnsw.iterative_scan = 'strict_order' SET hnsw.ef_search = 400 SET hnsw.max_scan_tuples = 200000 AS $$
DECLARE
  size integer := split_part(of_model, '#', -1)::integer;
BEGIN
  RETURN QUERY EXECUTE format(
    'SELECT v.id, 1 - (v.embedding::halfvec(%1$s) <=> $3::halfvec(%1$s)) FROM entry_vectors v WHERE v.dimensions = %1$s AND v.is_indexed AND v.org = $1 AND v.model = $2 ORDER BY v.embedding::halfvec(%1$s) <=> $3::halfvec(%1$s) LIMIT $4', size)
    USING of_org, of_model, to_embedding(query), wanted;
END $$;

-- The nearest vectors of an organization outside the index, compared one by one. `IS TRUE` uses no index: it keeps PostgreSQL from the
-- unique key, by which it would read the vectors of all organizations.
CREATE FUNCTION nearest_unindexed_vectors(of_org text, of_model text, query text, wanted integer)
RETURNS TABLE (id bigint, cosine double precision) LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
  SELECT near.id, 1 - near.distance FROM (
    SELECT v.id, coalesce(nullif(v.embedding <=> (SELECT to_embedding(query)), 'NaN'), 1) AS distance
    FROM entry_vectors v WHERE v.org = of_org AND (v.model = of_model) IS TRUE AND NOT v.is_indexed
  ) AS near ORDER BY near.distance, near.id LIMIT wanted
$$;

-- The nearest vectors of an organization, all compared one by one. A zero vector has the cosine 0.
CREATE FUNCTION nearest_vectors_exact(of_org text, of_model text, query text, wanted integer)
RETURNS TABLE (id bigint, cosine double precision) LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
  SELECT near.id, 1 - near.distance FROM (
    SELECT v.id, coalesce(nullif(v.embedding <=> (SELECT to_embedding(query)), 'NaN'), 1) AS distance
    FROM entry_vectors v WHERE v.org = of_org AND (v.model = of_model) IS TRUE
  ) AS near ORDER BY near.distance, near.id LIMIT wanted
$$;

-- Compares one by one while an organization has few vectors of the model; else searches the index and compares the vectors outside it;
-- compares all where the index returns too few.
CREATE FUNCTION nearest_vectors(of_org text, of_model text, query text, wanted integer, few integer)
RETURNS TABLE (id bigint, cosine double precision) LANGUAGE plpgsql STABLE
  SET search_path FROM CURRENT AS $$
DECLARE
  found integer;
  ids bigint[];
  cosines double precision[];
BEGIN
  SELECT s.vectors INTO found FROM vector_spaces s WHERE s.org = of_org AND s.model = of_model;
  IF found > few THEN
    SELECT array_agg(n.id), array_agg(n.cosine) INTO ids, cosines FROM nearest_indexed_vectors(of_org, of_model, query, wanted) AS n;
    IF cardinality(ids) >= wanted THEN
      RETURN QUERY SELECT near.id, near.cosine FROM (
        SELECT * FROM unnest(ids, cosines) AS indexed (id, cosine)
          UNION ALL SELECT * FROM nearest_unindexed_vectors(of_org, of_model, query, wanted)
      ) AS near ORDER BY near.cosine DESC, near.id LIMIT wanted;
      RETURN;
    END IF;
  END IF;
  RETURN QUERY SELECT * FROM nearest_vectors_exact(of_org, of_model, query, wanted);
END $$;

-- The nearest vectors of one layer in the index: of one project (of all for NULL, and always in layer 3) that the owner may read, in
-- these projects (in all for NULL). It visits at most 20,000 vectors, those of other organizations included.
CREATE FUNCTION nearest_indexed_entries(
  of_org text, of_model text, query text, of_layer integer, of_project text, of_owner text, of_projects text[], wanted integer
) RETURNS TABLE (entry_id bigint, cosine double precision) LANGUAGE plpgsql STABLE
  SET search_path FROM CURRENT SET hnsw.iterative_scan = 'relaxed_order' SET hnsw.ef_search = 100 SET hnsw.max_scan_tuples = 20000 AS $$
DECLARE
  size integer := split_part(of_model, '#', -1)::integer;
BEGIN
  RETURN QUERY EXECUTE format(
    'SELECT v.entry_id, 1 - (v.embedding::halfvec(%1$s) <=> $3::halfvec(%1$s)) FROM entry_vectors v WHERE v.dimensions = %1$s AND v.is_indexed AND (v.org = $1) IS TRUE AND (v.model = $2) IS TRUE AND (v.layer = $4) IS TRUE AND ($4 = 3 OR $5 IS NULL OR v.project = $5) AND (v.reader = '''' OR v.reader = $6) AND ($7 IS NULL OR v.project = '''' OR v.project = ANY ($7)) ORDER BY v.embedding::halfvec(%1$s) <=> $3::halfvec(%1$s) LIMIT $8', size)
    USING of_org, of_model, to_embedding(query), of_layer, of_project, of_owner, of_projects, wanted;
END $$;

-- The same for vectors outside the index, compared one by one.
CREATE FUNCTION nearest_unindexed_entries(
  of_org text, of_model text, query text, of_layer integer, of_project text, of_owner text, of_projects text[], wanted integer
) RETURNS TABLE (entry_id bigint, cosine double precision) LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
  SELECT v.entry_id, 1 - coalesce(nullif(v.embedding <=> (SELECT to_embedding(query)), 'NaN'), 1)
  FROM entry_vectors v
  WHERE v.org = of_org AND (v.model = of_model) IS TRUE AND NOT v.is_indexed AND (v.layer = of_layer) IS TRUE
    AND (of_layer = 3 OR of_project IS NULL OR v.project = of_project)
    AND (v.reader = '' OR v.reader = of_owner) AND (of_projects IS NULL OR v.project = '' OR v.project = ANY (of_projects))
  ORDER BY 2 DESC, v.entry_id DESC LIMIT wanted
$$;

-- The nearest entries of one layer, each by its nearest vector: compared one by one, or found by the index where there are more than
-- `few`. Several vectors may belong to one entry, so the loop reads more vectors until it has enough entries.
CREATE FUNCTION nearest_entries(
  of_org text, of_model text, query text, of_layer integer, of_project text, of_owner text, of_projects text[],
  nearer_than double precision, wanted integer, few integer
) RETURNS TABLE (entry_id bigint, cosine double precision) LANGUAGE plpgsql STABLE SET search_path FROM CURRENT AS $$
DECLARE
  place text := vector_partition(of_org, of_model, of_layer, of_project);
  taken integer := wanted * 2;
  found integer;
  entries bigint[];
  cosines double precision[];
BEGIN
  SELECT s.vectors INTO found FROM vector_spaces s WHERE s.org = of_org AND s.model = of_model;
  IF found > few AND place IS NOT NULL THEN
    SELECT count(*) INTO found FROM (
      SELECT 1 FROM entry_vectors v WHERE vector_partition(v.org, v.model, v.layer, v.project) = place AND v.layer IS NOT NULL LIMIT few + 1
    ) AS here;
  END IF;
  LOOP
    IF found > few THEN
      SELECT array_agg(near.entry_id), array_agg(near.cosine) INTO entries, cosines FROM (
        SELECT * FROM nearest_indexed_entries(of_org, of_model, query, of_layer, of_project, of_owner, of_projects, taken)
        UNION ALL
        SELECT * FROM nearest_unindexed_entries(of_org, of_model, query, of_layer, of_project, of_owner, of_projects, taken)
      ) AS near;
      taken := NULL;
    ELSIF place IS NULL THEN
      SELECT array_agg(near.entry_id), array_agg(near.cosine) INTO entries, cosines FROM (
        SELECT v.entry_id, 1 - coalesce(nullif(v.embedding <=> (SELECT to_embedding(query)), 'NaN'), 1) AS cosine
        FROM entry_vectors v
        WHERE v.org = of_org AND (v.model = of_model) IS TRUE AND (v.layer = of_layer) IS TRUE
          AND (v.reader = '' OR v.reader = of_owner) AND (of_projects IS NULL OR v.project = '' OR v.project = ANY (of_projects))
        ORDER BY 2 DESC, v.entry_id DESC LIMIT taken
      ) AS near;
    ELSE
      SELECT array_agg(near.entry_id), array_agg(near.cosine) INTO entries, cosines FROM (
        SELECT v.entry_id, 1 - coalesce(nullif(v.embedding <=> (SELECT to_embedding(query)), 'NaN'), 1) AS cosine
        FROM entry_vectors v
        WHERE vector_partition(v.org, v.model, v.layer, v.project) = place AND v.layer IS NOT NULL
          AND (v.reader = '' OR v.reader = of_owner) AND (of_projects IS NULL OR v.project = '' OR v.project = ANY (of_projects))
        ORDER BY 2 DESC, v.entry_id DESC LIMIT taken
      ) AS near;
    END IF;
    EXIT WHEN taken IS NULL OR coalesce(cardinality(entries), 0) < taken OR cosines[taken] < nearer_than
      OR (SELECT count(DISTINCT e) FROM unnest(entries) AS e) >= wanted;
    taken := taken * 8;
  END LOOP;
  RETURN QUERY SELECT near.e, max(near.c) FROM unnest(entries, cosines) AS near (e, c)
    WHERE near.c >= nearer_than GROUP BY near.e ORDER BY 2 DESC, 1 DESC LIMIT wanted;
END $$;

-- Functions of triggers
-- ---------------------

-- The reader whom lists show an entry to: '' for all, an owner, or NULL for none.
CREATE FUNCTION visible_reader(entry entries) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN (entry.listed = 1 OR entry.captured = 1) AND (entry.expires_at IS NULL OR entry.expires_at > entry.updated_at)
    THEN entry.reader END
$$;

-- The call that a row of `changes` belongs to.
CREATE FUNCTION write_context_of(of_org text) RETURNS write_context LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  call write_context;
BEGIN
  SELECT * INTO call FROM write_context w WHERE w.org = of_org;
  call.change_id := coalesce(call.change_id, replace(gen_random_uuid()::text, '-', ''));
  RETURN call;
END $$;

CREATE FUNCTION insert_entry_tags(entry entries) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO entry_tags (org, tag, layer, project, entry_id, created_at, kind, reader, expires_at, listed)
    SELECT entry.org, given.value, entry.layer, coalesce(entry.project, ''), entry.id, entry.created_at, entry.kind, entry.reader,
      entry.expires_at, entry.listed
    FROM jsonb_array_elements_text(entry.tags::jsonb) AS given (value);
END $$;

CREATE FUNCTION insert_image_uses(entry entries) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO image_uses (org, hash, entry_id, size, mime_type)
    SELECT entry.org, image ->> 'hash', entry.id, (image ->> 'size')::bigint, image ->> 'mimeType'
    FROM jsonb_array_elements(entry.images::jsonb) AS image
    ON CONFLICT DO NOTHING;
END $$;

CREATE FUNCTION insert_links(entry entries) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO links (org, from_id, relation, to_id, origin, made_by)
    SELECT entry.org, entry.id, link ->> 0, (link ->> 1)::bigint, 'metadata', coalesce(entry.changed_by, entry.created_by, '')
    FROM jsonb_array_elements(entry.links::jsonb) AS link WHERE (link ->> 1)::bigint <> entry.id
    ON CONFLICT DO NOTHING;
END $$;

CREATE FUNCTION add_usage(of_org text, of_part text, more_items bigint, more_bytes bigint) RETURNS void LANGUAGE plpgsql
  SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO usage_counters AS u (org, part, items, bytes) VALUES (of_org, of_part, more_items, more_bytes)
    ON CONFLICT (org, part) DO UPDATE SET items = u.items + excluded.items, bytes = u.bytes + excluded.bytes;
END $$;

CREATE FUNCTION add_version_counts(of_org text, of_project text, of_reader text, more bigint, more_bytes bigint) RETURNS void
  LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO version_counters AS c (org, project, reader, versions, bytes)
    VALUES (of_org, coalesce(of_project, ''), of_reader, more, more_bytes)
    ON CONFLICT (org, project, reader) DO UPDATE SET versions = c.versions + excluded.versions, bytes = c.bytes + excluded.bytes;
  DELETE FROM version_counters c
    WHERE c.org = of_org AND c.project = coalesce(of_project, '') AND c.reader = of_reader AND c.versions = 0;
END $$;

CREATE FUNCTION insert_version(was entries, is_now entries, call write_context) RETURNS void LANGUAGE plpgsql
  SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO entry_versions (
      entry_id, text, ended_at, ended_version, changed, deleted, ended_by, ended_agent, change_id, edges, size,
      org, thread_id, source, layer, version, created_at, updated_at, named_kind, tag_kind, work_item, title,
      project, domain, agent, audience, diary, status, given_weight, given_pinned, named_weight, named_pinned,
      named_expires_at, layer_expires_at, confidence, archived, owner, created_by, imported_from, text_hash, bytes, text_words,
      image_count, tags, links, images, metadata, summary, changed_by, changed_agent, restored
    )
    VALUES (
      was.id, CASE WHEN was.text_hash <> is_now.text_hash THEN was.text END, is_now.updated_at, is_now.version,
      (was.text_hash <> is_now.text_hash)::integer
        + 2 * (coalesce(was.metadata, '') <> coalesce(is_now.metadata, ''))::integer + 4 * (was.tags <> is_now.tags)::integer
        + 8 * (coalesce(was.images, '') <> coalesce(is_now.images, ''))::integer + 16 * (was.thread_id <> is_now.thread_id)::integer
        + 32 * (was.kind <> is_now.kind)::integer
        + 64 * (was.layer <> is_now.layer)::integer,
      0, is_now.changed_by, is_now.changed_agent, call.change_id, NULL,
      CASE WHEN was.text_hash <> is_now.text_hash THEN was.bytes ELSE coalesce(octet_length(was.metadata), 0) END,
      was.org, was.thread_id, was.source, was.layer, was.version, was.created_at, was.updated_at, was.named_kind,
      was.tag_kind, was.work_item, was.title, was.project, was.domain, was.agent, was.audience, was.diary,
      was.status, was.given_weight, was.given_pinned, was.named_weight, was.named_pinned, was.named_expires_at,
      was.layer_expires_at, was.confidence, was.archived, was.owner, was.created_by, was.imported_from, was.text_hash, was.bytes,
      was.text_words, was.image_count, was.tags, was.links, was.images, was.metadata, was.summary, was.changed_by,
      was.changed_agent, was.restored
    );
  PERFORM add_version_counts(
    was.org, was.project, was.reader, 1,
    CASE WHEN was.text_hash <> is_now.text_hash THEN was.bytes ELSE coalesce(octet_length(was.metadata), 0) END
  );
END $$;

-- A restored entry gets back its links with the keys that made them; links from metadata only where they supersede.
CREATE FUNCTION insert_deleted_version(was entries, call write_context) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO entry_versions (
      entry_id, text, ended_at, ended_version, changed, deleted, ended_by, ended_agent, change_id, edges, size,
      org, thread_id, source, layer, version, created_at, updated_at, named_kind, tag_kind, work_item, title,
      project, domain, agent, audience, diary, status, given_weight, given_pinned, named_weight, named_pinned,
      named_expires_at, layer_expires_at, confidence, archived, owner, created_by, imported_from, text_hash, bytes, text_words,
      image_count, tags, links, images, metadata, summary, changed_by, changed_agent, restored
    )
    VALUES (
      was.id, was.text, coalesce(call.at, (extract(epoch FROM clock_timestamp()) * 1000)::bigint), was.version + 1,
      0, 1, call.key_id, call.agent, call.change_id,
      (
        SELECT jsonb_agg(jsonb_build_array(l.from_id, l.relation, l.to_id, l.origin, l.made_by))::text FROM links AS l
        WHERE l.org = was.org AND l.from_id = was.id AND (l.origin <> 'metadata' OR l.relation = 'supersedes')
      ),
      was.bytes,
      was.org, was.thread_id, was.source, was.layer, was.version, was.created_at, was.updated_at, was.named_kind,
      was.tag_kind, was.work_item, was.title, was.project, was.domain, was.agent, was.audience, was.diary,
      was.status, was.given_weight, was.given_pinned, was.named_weight, was.named_pinned, was.named_expires_at,
      was.layer_expires_at, was.confidence, was.archived, was.owner, was.created_by, was.imported_from, was.text_hash, was.bytes,
      was.text_words, was.image_count, was.tags, was.links, was.images, was.metadata, was.summary, was.changed_by,
      was.changed_agent, was.restored
    );
END $$;

CREATE FUNCTION delete_unused_long_text() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM long_texts WHERE org = OLD.org AND hash = OLD.text_hash
    AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.org = OLD.org AND e.text_hash = OLD.text_hash AND e.bytes > 16384)
    AND NOT EXISTS (SELECT 1 FROM entry_versions v WHERE v.org = OLD.org AND v.text_hash = OLD.text_hash AND v.bytes > 16384)
    AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.org = OLD.org AND o.topic = 'text' AND o.key = OLD.text_hash);
  RETURN NULL;
END $$;

CREATE FUNCTION add_thread_counts(entry entries) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO thread_counters AS c (org, thread_id, project, reader, entries, user_entries, multimodal,
    bytes, words, first_second, last_second, first_id, last_id)
    VALUES (entry.org, entry.thread_id, coalesce(entry.project, ''), entry.reader, 1, (entry.source = 'user')::int,
      (entry.image_count > 0)::int,
      entry.bytes, entry.text_words, entry.created_second, entry.created_second, entry.id, entry.id)
    ON CONFLICT ON CONSTRAINT thread_counters_pkey DO UPDATE SET
      entries = c.entries + 1, user_entries = c.user_entries + excluded.user_entries, multimodal = c.multimodal + excluded.multimodal,
      bytes = c.bytes + excluded.bytes, words = c.words + excluded.words,
      first_second = least(c.first_second, excluded.first_second), last_second = greatest(c.last_second, excluded.last_second),
      first_id = least(c.first_id, excluded.first_id), last_id = greatest(c.last_id, excluded.last_id);
END $$;

-- Looks up the first and the last entry only when the deleted entry was one of them. When a statement deletes many entries, all rows are
-- already deleted at the first lookup, so that its result is right for all.
CREATE FUNCTION subtract_thread_counts(entry entries) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  of_project text COLLATE "C" := coalesce(entry.project, '');
BEGIN
  UPDATE thread_counters c SET
      entries = c.entries - 1, user_entries = c.user_entries - (entry.source = 'user')::int,
      multimodal = c.multimodal - (entry.image_count > 0)::int, bytes = c.bytes - entry.bytes, words = c.words - entry.text_words,
      first_second = CASE WHEN entry.created_second <> c.first_second OR c.entries = 1 THEN c.first_second ELSE coalesce((
          SELECT e.created_second FROM entries e
          WHERE e.listed = 1 AND e.org = entry.org AND e.thread_id BETWEEN entry.thread_id AND entry.thread_id
            AND coalesce(e.project, '') = of_project AND e.reader = entry.reader
          ORDER BY e.thread_id DESC, e.created_second LIMIT 1
        ), c.first_second) END,
      last_second = CASE WHEN entry.created_second <> c.last_second OR c.entries = 1 THEN c.last_second ELSE coalesce((
          SELECT e.created_second FROM entries e
          WHERE e.listed = 1 AND e.org = entry.org AND e.thread_id BETWEEN entry.thread_id AND entry.thread_id
            AND coalesce(e.project, '') = of_project AND e.reader = entry.reader
          ORDER BY e.thread_id, e.created_second DESC LIMIT 1
        ), c.last_second) END,
      first_id = CASE WHEN entry.id <> c.first_id OR c.entries = 1 THEN c.first_id ELSE coalesce((
          SELECT e.id FROM entries e
          WHERE e.listed = 1 AND e.org = entry.org AND e.thread_id BETWEEN entry.thread_id AND entry.thread_id
            AND coalesce(e.project, '') = of_project AND e.reader = entry.reader
          ORDER BY e.thread_id, e.id LIMIT 1
        ), c.first_id) END,
      last_id = CASE WHEN entry.id <> c.last_id OR c.entries = 1 THEN c.last_id ELSE coalesce((
          SELECT e.id FROM entries e
          WHERE e.listed = 1 AND e.org = entry.org AND e.thread_id BETWEEN entry.thread_id AND entry.thread_id
            AND coalesce(e.project, '') = of_project AND e.reader = entry.reader
          ORDER BY e.thread_id DESC, e.id DESC LIMIT 1
        ), c.last_id) END
    WHERE c.org = entry.org AND c.thread_id = entry.thread_id AND c.project = of_project AND c.reader = entry.reader;
  DELETE FROM thread_counters c
    WHERE c.org = entry.org AND c.thread_id = entry.thread_id AND c.project = of_project AND c.reader = entry.reader AND c.entries = 0;
END $$;

CREATE FUNCTION count_thread_change() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    IF OLD.listed = 1 THEN PERFORM subtract_thread_counts(OLD); END IF;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    IF NEW.listed = 1 THEN PERFORM add_thread_counts(NEW); END IF;
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION has_layer_counter(entry entries) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT entry.listed = 1 AND entry.expires_at IS NULL
$$;

CREATE FUNCTION add_entry_counts(entry entries, sign integer) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO entry_counters AS c (org, project, reader, listed, entries, user_entries, multimodal, bytes, images, summaries)
    VALUES (
      entry.org, coalesce(entry.project, ''), entry.reader, entry.listed, sign, sign * (entry.source = 'user')::int,
      sign * (entry.image_count > 0)::int, sign * entry.bytes, sign * entry.image_count, sign * (entry.summary <> '')::int
    )
    ON CONFLICT ON CONSTRAINT entry_counters_pkey DO UPDATE SET
      entries = c.entries + excluded.entries, user_entries = c.user_entries + excluded.user_entries,
      multimodal = c.multimodal + excluded.multimodal, bytes = c.bytes + excluded.bytes, images = c.images + excluded.images,
      summaries = c.summaries + excluded.summaries;
  IF sign < 0 THEN
    DELETE FROM entry_counters c
      WHERE c.org = entry.org AND c.project = coalesce(entry.project, '') AND c.reader = entry.reader AND c.listed = entry.listed
        AND c.entries = 0;
  END IF;
END $$;

CREATE FUNCTION count_entry_change() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN PERFORM add_entry_counts(OLD, -1); END IF;
  IF TG_OP <> 'DELETE' THEN PERFORM add_entry_counts(NEW, 1); END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION count_layer_change() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    IF has_layer_counter(OLD) THEN
      UPDATE layer_counters c SET entries = c.entries - 1, words = c.words - OLD.text_words
        WHERE c.org = OLD.org AND c.layer = OLD.layer AND c.project = coalesce(OLD.project, '') AND c.reader = OLD.reader
          AND c.kind = OLD.kind AND c.pinned = OLD.pinned;
      DELETE FROM layer_counters c
        WHERE c.org = OLD.org AND c.layer = OLD.layer AND c.project = coalesce(OLD.project, '') AND c.reader = OLD.reader
          AND c.kind = OLD.kind AND c.pinned = OLD.pinned AND c.entries = 0;
    END IF;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    IF has_layer_counter(NEW) THEN
      INSERT INTO layer_counters AS c (org, layer, project, reader, kind, pinned, entries, words, first_id, last_id)
        VALUES (NEW.org, NEW.layer, coalesce(NEW.project, ''), NEW.reader, NEW.kind, NEW.pinned, 1, NEW.text_words, NEW.id, NEW.id)
        ON CONFLICT ON CONSTRAINT layer_counters_pkey DO UPDATE SET
          entries = c.entries + 1, words = c.words + excluded.words,
          first_id = least(c.first_id, excluded.first_id), last_id = greatest(c.last_id, excluded.last_id);
    END IF;
  END IF;
  RETURN NULL;
END $$;

-- Counts all vectors of an entry that lists show.
CREATE FUNCTION add_vector_counts(entry entries, sign integer) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF entry.listed <> 1 THEN RETURN; END IF;
  INSERT INTO vector_counters AS c (org, project, reader, model, entries, vectors, bytes)
    SELECT entry.org, coalesce(entry.project, ''), entry.reader, v.model, sign * count(*) FILTER (WHERE v.chunk = 0), sign * count(*),
      sign * sum(octet_length(v.data))
    FROM entry_vectors v WHERE v.entry_id = entry.id GROUP BY v.model
    ON CONFLICT ON CONSTRAINT vector_counters_pkey DO UPDATE SET
      entries = c.entries + excluded.entries, vectors = c.vectors + excluded.vectors, bytes = c.bytes + excluded.bytes;
END $$;

-- Before the delete of an entry all its vectors are subtracted; each of them then finds no entry.
CREATE FUNCTION count_changed_vectors() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  sign integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  INSERT INTO vector_counters AS c (org, project, reader, model, entries, vectors, bytes)
    SELECT e.org, coalesce(e.project, ''), e.reader, m.model, sign * sum(m.entries), sign * sum(m.vectors), sign * sum(m.bytes)
    FROM (
      SELECT entry_id, model, count(*) FILTER (WHERE chunk = 0) AS entries, count(*) AS vectors, sum(octet_length(data)) AS bytes
      FROM changed_rows GROUP BY entry_id, model
    ) AS m
      CROSS JOIN LATERAL (SELECT org, project, reader FROM entries WHERE id = m.entry_id AND listed = 1 OFFSET 0) AS e
    GROUP BY e.org, coalesce(e.project, ''), e.reader, m.model ORDER BY 1, 2, 3, 4
    ON CONFLICT ON CONSTRAINT vector_counters_pkey DO UPDATE SET
      entries = c.entries + excluded.entries, vectors = c.vectors + excluded.vectors, bytes = c.bytes + excluded.bytes;
  RETURN NULL;
END $$;

CREATE FUNCTION update_pattern() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    DELETE FROM patterns
      WHERE org = OLD.org AND layer = OLD.layer AND project = coalesce(OLD.project, '') AND entry_id = OLD.id;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO patterns (
        org, layer, project, entry_id, reader, expires_at,
        language, file, folder, ending, code_file, code_folder, code_ending
      )
      SELECT * FROM pattern_rows WHERE entry_id = NEW.id;
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION update_version_image_uses() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    DELETE FROM image_uses WHERE entry_id = -OLD.id;
  ELSE
    INSERT INTO image_uses (org, hash, entry_id, size, mime_type)
      SELECT NEW.org, image ->> 'hash', -NEW.id, (image ->> 'size')::bigint, image ->> 'mimeType'
      FROM jsonb_array_elements(NEW.images::jsonb) AS image
      ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION count_changed_tags() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  sign integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  INSERT INTO tag_counters AS c (org, tag, project, reader, uses)
    SELECT org, tag, project, reader, sign * count(*) FROM changed_rows WHERE listed = 1
    GROUP BY org, tag, project, reader ORDER BY org, tag, project, reader
    ON CONFLICT ON CONSTRAINT tag_counters_pkey DO UPDATE SET uses = c.uses + excluded.uses;
  IF sign < 0 THEN
    DELETE FROM tag_counters c USING (SELECT DISTINCT org, tag, project, reader FROM changed_rows WHERE listed = 1) AS gone
      WHERE c.org = gone.org AND c.tag = gone.tag AND c.project = gone.project AND c.reader = gone.reader AND c.uses = 0;
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION add_code_counts(file code_files, sign integer) RETURNS void LANGUAGE sql SET search_path FROM CURRENT AS $$
  INSERT INTO code_projects AS counted (org, project, files, symbols, chunks, words, bytes, pending)
    VALUES (file.org, file.project, sign, sign * file.symbols, sign * file.chunks, sign * file.words, sign * file.bytes,
      sign * (file.model IS NULL)::integer)
    ON CONFLICT (org, project) DO UPDATE SET
      files = counted.files + excluded.files, symbols = counted.symbols + excluded.symbols,
      chunks = counted.chunks + excluded.chunks, words = counted.words + excluded.words,
      bytes = counted.bytes + excluded.bytes, pending = counted.pending + excluded.pending
$$;

-- In whole kilobytes, so that few events change the usage.
CREATE FUNCTION capture_session_bytes(session capture_sessions) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT (octet_length(session.session || session.state) + 1023) / 1024 * 1024
$$;

-- Triggers on entries
-- -------------------
-- The name of a trigger is its table, its event and the table or feature that it maintains. No trigger depends on the order of the
-- triggers of one event.

CREATE FUNCTION entries_insert_derived_rows() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  call write_context := write_context_of(NEW.org);
BEGIN
  PERFORM insert_entry_tags(NEW);
  IF NEW.images IS NOT NULL THEN PERFORM insert_image_uses(NEW); END IF;
  IF NEW.links IS NOT NULL THEN PERFORM insert_links(NEW); END IF;
  INSERT INTO changes (org, entry_id, action, version, at, change_id, key_id, agent, thread_id, project, kind, reader)
    VALUES (
      NEW.org, NEW.id, 'store', NEW.version, NEW.updated_at, call.change_id, NEW.changed_by, NEW.changed_agent,
      NEW.thread_id, NEW.project, NEW.kind, visible_reader(NEW)
    );
  RETURN NULL;
END $$;

-- Tags, images, links and the row of the change log.
CREATE TRIGGER entries_insert_derived_rows AFTER INSERT ON entries FOR EACH ROW EXECUTE FUNCTION entries_insert_derived_rows();

CREATE FUNCTION entries_insert_counters() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO entry_counters AS c (org, project, reader, listed, entries, user_entries, multimodal, bytes, images, summaries)
    SELECT m.org, coalesce(m.project, ''), m.reader, m.listed, count(*), count(*) FILTER (WHERE m.source = 'user'),
      count(*) FILTER (WHERE m.image_count > 0), sum(m.bytes), sum(m.image_count), count(*) FILTER (WHERE m.summary <> '')
    FROM changed_rows m GROUP BY 1, 2, 3, 4
    ON CONFLICT ON CONSTRAINT entry_counters_pkey DO UPDATE SET
      entries = c.entries + excluded.entries, user_entries = c.user_entries + excluded.user_entries,
      multimodal = c.multimodal + excluded.multimodal, bytes = c.bytes + excluded.bytes, images = c.images + excluded.images,
      summaries = c.summaries + excluded.summaries;
  INSERT INTO thread_counters AS c (
      org, thread_id, project, reader, entries, user_entries, multimodal, bytes, words, first_second, last_second, first_id, last_id
    )
    SELECT m.org, m.thread_id, coalesce(m.project, ''), m.reader, count(*), count(*) FILTER (WHERE m.source = 'user'),
      count(*) FILTER (WHERE m.image_count > 0), sum(m.bytes), sum(m.text_words), min(m.created_second), max(m.created_second),
      min(m.id), max(m.id)
    FROM changed_rows m WHERE m.listed = 1 GROUP BY 1, 2, 3, 4
    ON CONFLICT ON CONSTRAINT thread_counters_pkey DO UPDATE SET
      entries = c.entries + excluded.entries, user_entries = c.user_entries + excluded.user_entries,
      multimodal = c.multimodal + excluded.multimodal, bytes = c.bytes + excluded.bytes, words = c.words + excluded.words,
      first_second = least(c.first_second, excluded.first_second), last_second = greatest(c.last_second, excluded.last_second),
      first_id = least(c.first_id, excluded.first_id), last_id = greatest(c.last_id, excluded.last_id);
  INSERT INTO layer_counters AS c (org, layer, project, reader, kind, pinned, entries, words, first_id, last_id)
    SELECT m.org, m.layer, coalesce(m.project, ''), m.reader, m.kind, m.pinned, count(*), sum(m.text_words), min(m.id), max(m.id)
    FROM changed_rows m WHERE m.listed = 1 AND m.expires_at IS NULL GROUP BY 1, 2, 3, 4, 5, 6
    ON CONFLICT ON CONSTRAINT layer_counters_pkey DO UPDATE SET
      entries = c.entries + excluded.entries, words = c.words + excluded.words,
      first_id = least(c.first_id, excluded.first_id), last_id = greatest(c.last_id, excluded.last_id);
  RETURN NULL;
END $$;

-- One statement may insert many entries, which are counted once per row of the counters: many updates of one row leave many row
-- versions.
CREATE TRIGGER entries_insert_counters AFTER INSERT ON entries REFERENCING NEW TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION entries_insert_counters();

CREATE TRIGGER entries_insert_patterns AFTER INSERT ON entries FOR EACH ROW WHEN (is_pattern(NEW.kind)) EXECUTE FUNCTION update_pattern();

CREATE FUNCTION entries_update_change_log() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  call write_context := write_context_of(NEW.org);
BEGIN
  IF call.retain_versions = 1 THEN PERFORM insert_version(OLD, NEW, call); END IF;
  INSERT INTO changes (
      org, entry_id, action, version, at, change_id, key_id, agent,
      thread_id, project, kind, reader, was_thread, was_project, was_kind, was_reader
    ) VALUES (
      NEW.org, NEW.id, 'update', NEW.version, NEW.updated_at, call.change_id, NEW.changed_by, NEW.changed_agent,
      NEW.thread_id, NEW.project, NEW.kind, visible_reader(NEW), OLD.thread_id, OLD.project, OLD.kind, visible_reader(OLD)
    );
  RETURN NULL;
END $$;

CREATE TRIGGER entries_update_change_log AFTER UPDATE OF version ON entries FOR EACH ROW EXECUTE FUNCTION entries_update_change_log();

CREATE FUNCTION entries_move_change_log() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  call write_context := write_context_of(NEW.org);
BEGIN
  INSERT INTO changes (
      org, entry_id, action, version, at, change_id, key_id, agent,
      thread_id, project, kind, reader, was_thread, was_project, was_kind, was_reader
    ) VALUES (
      NEW.org, NEW.id, 'update', NEW.version, coalesce(call.at, (extract(epoch FROM clock_timestamp()) * 1000)::bigint),
      call.change_id, call.key_id, call.agent,
      NEW.thread_id, NEW.project, NEW.kind, visible_reader(NEW), OLD.thread_id, OLD.project, OLD.kind, visible_reader(OLD)
    );
  RETURN NULL;
END $$;

-- Archiving an entry and handing it over to another owner make no version, but lists lose or gain the entry.
CREATE TRIGGER entries_move_change_log AFTER UPDATE OF archived, owner ON entries FOR EACH ROW
  WHEN ((OLD.archived <> NEW.archived OR OLD.reader <> NEW.reader) AND OLD.version = NEW.version) EXECUTE FUNCTION entries_move_change_log();

CREATE FUNCTION entries_update_tags() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM entry_tags WHERE entry_id = NEW.id;
  PERFORM insert_entry_tags(NEW);
  RETURN NULL;
END $$;

CREATE TRIGGER entries_update_tags AFTER UPDATE OF
    tags, layer, project, audience, owner, diary, archived, named_kind, tag_kind, work_item, source, named_expires_at, layer_expires_at
  ON entries FOR EACH ROW
  WHEN ((NEW.tags, NEW.layer, NEW.project, NEW.kind, NEW.reader, NEW.expires_at, NEW.listed)
    IS DISTINCT FROM (OLD.tags, OLD.layer, OLD.project, OLD.kind, OLD.reader, OLD.expires_at, OLD.listed))
  EXECUTE FUNCTION entries_update_tags();

CREATE FUNCTION entries_update_image_uses() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM image_uses WHERE entry_id = NEW.id;
  IF NEW.images IS NOT NULL THEN PERFORM insert_image_uses(NEW); END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER entries_update_image_uses AFTER UPDATE OF images ON entries
  FOR EACH ROW WHEN (OLD.images IS DISTINCT FROM NEW.images) EXECUTE FUNCTION entries_update_image_uses();

CREATE FUNCTION entries_update_links() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM links l WHERE l.org = NEW.org AND l.from_id = NEW.id AND l.origin = 'metadata'
    AND (l.relation, l.to_id) NOT IN (
      SELECT link ->> 0, (link ->> 1)::bigint FROM jsonb_array_elements(NEW.links::jsonb) AS link
    );
  IF NEW.links IS NOT NULL THEN PERFORM insert_links(NEW); END IF;
  RETURN NULL;
END $$;

-- Links that are still named stay, with the key that made them.
CREATE TRIGGER entries_update_links AFTER UPDATE OF links ON entries
  FOR EACH ROW WHEN (OLD.links IS DISTINCT FROM NEW.links) EXECUTE FUNCTION entries_update_links();

CREATE TRIGGER entries_update_thread_counters AFTER UPDATE OF archived, diary, audience, owner, project, image_count, bytes, text_words
  ON entries FOR EACH ROW
  WHEN ((NEW.listed, NEW.project, NEW.reader, NEW.image_count, NEW.bytes, NEW.text_words)
    IS DISTINCT FROM (OLD.listed, OLD.project, OLD.reader, OLD.image_count, OLD.bytes, OLD.text_words))
  EXECUTE FUNCTION count_thread_change();

CREATE TRIGGER entries_update_layer_counters AFTER UPDATE OF
    layer, project, audience, owner, diary, archived, named_kind, tag_kind, work_item, source, given_pinned, named_pinned,
    named_expires_at, layer_expires_at, text_words
  ON entries FOR EACH ROW
  WHEN ((NEW.listed, NEW.expires_at, NEW.layer, NEW.project, NEW.reader, NEW.kind, NEW.pinned, NEW.text_words)
    IS DISTINCT FROM (OLD.listed, OLD.expires_at, OLD.layer, OLD.project, OLD.reader, OLD.kind, OLD.pinned, OLD.text_words))
  EXECUTE FUNCTION count_layer_change();

CREATE TRIGGER entries_update_entry_counters AFTER UPDATE OF archived, diary, audience, owner, project, image_count, bytes, summary
  ON entries FOR EACH ROW
  WHEN (
    (OLD.listed, OLD.project, OLD.reader, OLD.image_count, OLD.bytes, OLD.summary <> '')
      IS DISTINCT FROM (NEW.listed, NEW.project, NEW.reader, NEW.image_count, NEW.bytes, NEW.summary <> '')
  )
  EXECUTE FUNCTION count_entry_change();

CREATE TRIGGER entries_update_patterns AFTER UPDATE OF
    metadata, named_kind, tag_kind, work_item, source, layer, project, audience, owner, diary, archived,
    named_expires_at, layer_expires_at
  ON entries FOR EACH ROW WHEN (is_pattern(OLD.kind) OR is_pattern(NEW.kind)) EXECUTE FUNCTION update_pattern();

-- A long text is deleted with the last row that uses it.
CREATE TRIGGER entries_update_long_text AFTER UPDATE OF text_hash ON entries FOR EACH ROW
  WHEN (OLD.bytes > 16384 AND OLD.text_hash <> NEW.text_hash) EXECUTE FUNCTION delete_unused_long_text();

CREATE FUNCTION entries_update_vector_counters() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM add_vector_counts(OLD, -1);
  PERFORM add_vector_counts(NEW, 1);
  RETURN NULL;
END $$;

CREATE TRIGGER entries_update_vector_counters AFTER UPDATE OF archived, diary, audience, owner, project ON entries FOR EACH ROW
  WHEN ((OLD.listed, OLD.project, OLD.reader) IS DISTINCT FROM (NEW.listed, NEW.project, NEW.reader))
  EXECUTE FUNCTION entries_update_vector_counters();

CREATE FUNCTION entries_update_vectors() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
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
  RETURN NULL;
END $$;

-- An entry that moves gets new vectors with new IDs, so that external indexes are updated. Old and new rows have entry IDs that no entry
-- has while both exist, so that each query sees one set.
CREATE TRIGGER entries_update_vectors AFTER UPDATE OF layer, project, audience, owner, diary, archived ON entries FOR EACH ROW
  WHEN ((OLD.listed, OLD.layer, OLD.project, OLD.reader) IS DISTINCT FROM (NEW.listed, NEW.layer, NEW.project, NEW.reader))
  EXECUTE FUNCTION entries_update_vectors();

CREATE FUNCTION entries_delete_vector_counters() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM add_vector_counts(OLD, -1);
  RETURN OLD;
END $$;

-- All vectors are subtracted before the entry is deleted; the trigger of each vector then finds no entry.
CREATE TRIGGER entries_delete_vector_counters BEFORE DELETE ON entries FOR EACH ROW WHEN (OLD.listed = 1)
  EXECUTE FUNCTION entries_delete_vector_counters();

CREATE FUNCTION entries_delete_derived_rows() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  call write_context := write_context_of(OLD.org);
BEGIN
  IF call.retain_versions = 1 THEN PERFORM insert_deleted_version(OLD, call); END IF;
  DELETE FROM entry_tags WHERE entry_id = OLD.id;
  DELETE FROM image_uses WHERE entry_id = OLD.id;
  DELETE FROM links WHERE org = OLD.org AND from_id = OLD.id;
  INSERT INTO dangling_links (entry_id, org)
    SELECT OLD.id, OLD.org
    WHERE EXISTS (SELECT 1 FROM links l WHERE l.to_id = OLD.id)
      AND NOT EXISTS (SELECT 1 FROM entry_versions v WHERE v.entry_id = OLD.id)
    ON CONFLICT DO NOTHING;
  INSERT INTO changes (
      org, entry_id, action, version, at, change_id, key_id, agent,
      thread_id, project, kind, was_thread, was_project, was_kind, was_reader, last_reader
    ) VALUES (
      OLD.org, OLD.id, 'delete', OLD.version + 1, coalesce(call.at, (extract(epoch FROM clock_timestamp()) * 1000)::bigint),
      call.change_id, call.key_id, call.agent,
      OLD.thread_id, OLD.project, OLD.kind, OLD.thread_id, OLD.project, OLD.kind, visible_reader(OLD), OLD.reader
    );
  RETURN NULL;
END $$;

-- The change log and history have the time of the call. Links to the entry stay, unless it cannot be restored.
CREATE TRIGGER entries_delete_derived_rows AFTER DELETE ON entries FOR EACH ROW EXECUTE FUNCTION entries_delete_derived_rows();

CREATE TRIGGER entries_delete_thread_counters AFTER DELETE ON entries FOR EACH ROW WHEN (OLD.listed = 1)
  EXECUTE FUNCTION count_thread_change();

CREATE FUNCTION entries_delete_layer_counters() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE layer_counters c SET entries = c.entries - g.entries, words = c.words - g.words
    FROM (
      SELECT o.org, o.layer, coalesce(o.project, '') AS project, o.reader, o.kind, o.pinned, count(*) AS entries, sum(o.text_words) AS words
      FROM gone o WHERE o.listed = 1 AND o.expires_at IS NULL GROUP BY 1, 2, 3, 4, 5, 6
    ) AS g
    WHERE c.org = g.org AND c.layer = g.layer AND c.project = g.project AND c.reader = g.reader AND c.kind = g.kind AND c.pinned = g.pinned;
  DELETE FROM layer_counters c USING (SELECT DISTINCT o.org, o.layer, coalesce(o.project, '') AS project FROM gone o) AS g
    WHERE c.org = g.org AND c.layer = g.layer AND c.project = g.project AND c.entries = 0;
  RETURN NULL;
END $$;

CREATE TRIGGER entries_delete_layer_counters AFTER DELETE ON entries REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION entries_delete_layer_counters();

CREATE TRIGGER entries_delete_entry_counters AFTER DELETE ON entries FOR EACH ROW
  EXECUTE FUNCTION count_entry_change();

CREATE FUNCTION entries_delete_version_counters() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM add_version_counts(m.org, m.project, m.reader, m.versions, m.bytes)
    FROM (
      SELECT e.org, e.project, e.reader, count(*) AS versions, sum(e.bytes)::bigint AS bytes
      FROM changed_rows e WHERE (SELECT w.retain_versions FROM write_context w WHERE w.org = e.org) = 1
      GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ) AS m;
  RETURN NULL;
END $$;

-- One statement may delete many entries, which are counted once.
CREATE TRIGGER entries_delete_version_counters AFTER DELETE ON entries REFERENCING OLD TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION entries_delete_version_counters();

CREATE TRIGGER entries_delete_patterns AFTER DELETE ON entries FOR EACH ROW WHEN (is_pattern(OLD.kind)) EXECUTE FUNCTION update_pattern();

CREATE TRIGGER entries_delete_long_text AFTER DELETE ON entries FOR EACH ROW
  WHEN (OLD.bytes > 16384) EXECUTE FUNCTION delete_unused_long_text();

CREATE FUNCTION entries_delete_line_index() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM text_line_index WHERE entry_id = OLD.id;
  RETURN NULL;
END $$;

CREATE TRIGGER entries_delete_line_index AFTER DELETE ON entries FOR EACH ROW EXECUTE FUNCTION entries_delete_line_index();

CREATE FUNCTION entries_delete_fts() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM entries_fts WHERE entry_id = OLD.id;
  RETURN NULL;
END $$;

CREATE TRIGGER entries_delete_fts AFTER DELETE ON entries FOR EACH ROW EXECUTE FUNCTION entries_delete_fts();

CREATE FUNCTION entries_delete_vectors() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM entry_vectors WHERE entry_id = OLD.id;
  RETURN NULL;
END $$;

CREATE TRIGGER entries_delete_vectors AFTER DELETE ON entries FOR EACH ROW EXECUTE FUNCTION entries_delete_vectors();

CREATE FUNCTION entries_delete_import_references() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM import_references WHERE entry_id = OLD.id;
  RETURN NULL;
END $$;

CREATE TRIGGER entries_delete_import_references AFTER DELETE ON entries FOR EACH ROW EXECUTE FUNCTION entries_delete_import_references();

-- Triggers on other tables
-- ------------------------

CREATE TRIGGER entry_tags_insert_counters AFTER INSERT ON entry_tags REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT
  EXECUTE FUNCTION count_changed_tags();

CREATE TRIGGER entry_tags_delete_counters AFTER DELETE ON entry_tags REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT
  EXECUTE FUNCTION count_changed_tags();

CREATE FUNCTION image_uses_usage() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  one image_uses;
BEGIN
  IF TG_OP = 'INSERT' THEN one := NEW; ELSE one := OLD; END IF;
  IF EXISTS (SELECT 1 FROM image_uses WHERE org = one.org AND hash = one.hash AND entry_id <> one.entry_id) THEN
    RETURN NULL;
  END IF;
  IF TG_OP = 'INSERT' THEN PERFORM add_usage(one.org, 'images', 1, one.size);
  ELSE PERFORM add_usage(one.org, 'images', -1, -one.size);
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER image_uses_usage AFTER INSERT OR DELETE ON image_uses FOR EACH ROW EXECUTE FUNCTION image_uses_usage();

CREATE FUNCTION image_uses_insert_outbox() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  taken text;
BEGIN
  DELETE FROM outbox WHERE org = NEW.org AND topic = 'image_delete' AND key = NEW.hash RETURNING state INTO taken;
  IF taken = 'claimed' THEN PERFORM precondition_failed(); END IF;
  RETURN NULL;
END $$;

-- An image that is used again is not removed. Writers of different organizations and the removal run at the same time: a removal that is
-- already leased refuses the write.
CREATE TRIGGER image_uses_insert_outbox AFTER INSERT ON image_uses FOR EACH ROW EXECUTE FUNCTION image_uses_insert_outbox();

CREATE FUNCTION image_uses_delete_outbox() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM images_in_use WHERE org = OLD.org AND hash = OLD.hash) THEN
    INSERT INTO outbox (org, topic, key, created_at, due_at)
      VALUES (OLD.org, 'image_delete', OLD.hash, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, 0)
      ON CONFLICT (org, topic, key) DO NOTHING;
  END IF;
  RETURN NULL;
END $$;

-- Queues the removal of an image with its last use.
CREATE TRIGGER image_uses_delete_outbox AFTER DELETE ON image_uses FOR EACH ROW EXECUTE FUNCTION image_uses_delete_outbox();

-- A version uses its images with its negative ID, which no entry has.
CREATE TRIGGER entry_versions_insert_image_uses AFTER INSERT ON entry_versions FOR EACH ROW
  WHEN (NEW.images IS NOT NULL) EXECUTE FUNCTION update_version_image_uses();

CREATE TRIGGER entry_versions_delete_image_uses AFTER DELETE ON entry_versions FOR EACH ROW
  WHEN (OLD.images IS NOT NULL) EXECUTE FUNCTION update_version_image_uses();

CREATE FUNCTION entry_versions_delete_counters() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM add_version_counts(m.org, m.project, m.reader, -m.versions, -m.bytes)
    FROM (
      SELECT v.org, v.project, v.reader, count(*) AS versions, sum(v.size)::bigint AS bytes
      FROM changed_rows v GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ) AS m;
  RETURN NULL;
END $$;

CREATE TRIGGER entry_versions_delete_counters AFTER DELETE ON entry_versions REFERENCING OLD TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION entry_versions_delete_counters();

CREATE FUNCTION entry_versions_update_counters() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM add_version_counts(OLD.org, OLD.project, OLD.reader, -1, -OLD.size);
  PERFORM add_version_counts(NEW.org, NEW.project, NEW.reader, 1, NEW.size);
  RETURN NULL;
END $$;

-- A version that is handed over to another owner.
CREATE TRIGGER entry_versions_update_counters AFTER UPDATE OF owner ON entry_versions FOR EACH ROW
  WHEN (OLD.reader <> NEW.reader) EXECUTE FUNCTION entry_versions_update_counters();

CREATE FUNCTION entry_versions_delete_dangling_links() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO dangling_links (entry_id, org)
    SELECT DISTINCT m.entry_id, m.org FROM changed_rows m
    WHERE EXISTS (SELECT 1 FROM links l WHERE l.to_id = m.entry_id)
      AND NOT EXISTS (SELECT 1 FROM entry_versions v WHERE v.entry_id = m.entry_id)
      AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.id = m.entry_id)
    ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

CREATE TRIGGER entry_versions_delete_dangling_links AFTER DELETE ON entry_versions REFERENCING OLD TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION entry_versions_delete_dangling_links();

CREATE TRIGGER entry_versions_delete_long_text AFTER DELETE ON entry_versions FOR EACH ROW
  WHEN (OLD.bytes > 16384) EXECUTE FUNCTION delete_unused_long_text();

CREATE FUNCTION receipts_usage() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN PERFORM add_usage(NEW.org, 'receipts', 1, NEW.bytes);
  ELSIF TG_OP = 'DELETE' THEN PERFORM add_usage(OLD.org, 'receipts', -1, -OLD.bytes);
  ELSE PERFORM add_usage(NEW.org, 'receipts', 0, NEW.bytes - OLD.bytes);
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER receipts_usage AFTER INSERT OR DELETE OR UPDATE ON receipts FOR EACH ROW
  EXECUTE FUNCTION receipts_usage();

CREATE FUNCTION entry_vectors_insert_sync() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO vector_spaces AS s (org, model, vectors) SELECT org, model, count(*) FROM changed_rows GROUP BY org, model ORDER BY org, model
    ON CONFLICT (org, model) DO UPDATE SET vectors = s.vectors + excluded.vectors;
  INSERT INTO outbox (org, topic, key, created_at, due_at)
    SELECT org, 'vector_sync', model, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, 0
    FROM (SELECT DISTINCT org, model FROM changed_rows) AS spaces
    ON CONFLICT (org, topic, key) DO UPDATE SET state = 'pending', due_at = 0;
  RETURN NULL;
END $$;

-- Queues the synchronization of external vector indexes.
CREATE TRIGGER entry_vectors_insert_sync AFTER INSERT ON entry_vectors REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT
  EXECUTE FUNCTION entry_vectors_insert_sync();

CREATE FUNCTION entry_vectors_delete_sync() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE vector_spaces s SET vectors = s.vectors - gone.vectors
    FROM (SELECT org, model, count(*) AS vectors FROM changed_rows GROUP BY org, model) AS gone
    WHERE s.org = gone.org AND s.model = gone.model;
  INSERT INTO vector_removals (org, vector_id) SELECT org, id FROM changed_rows ORDER BY id;
  INSERT INTO outbox (org, topic, key, created_at, due_at)
    SELECT org, 'vector_sync', model, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, 0
    FROM (SELECT DISTINCT org, model FROM changed_rows) AS spaces
    ON CONFLICT (org, topic, key) DO UPDATE SET state = 'pending', due_at = 0;
  RETURN NULL;
END $$;

CREATE TRIGGER entry_vectors_delete_sync AFTER DELETE ON entry_vectors REFERENCING OLD TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION entry_vectors_delete_sync();

CREATE FUNCTION entry_vectors_insert_scope() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  NEW.is_indexed := coalesce((SELECT vectors FROM vector_spaces WHERE org = NEW.org AND model = NEW.model), 0) >= max_unindexed_vectors();
  IF NEW.project IS NULL THEN
    SELECT CASE WHEN e.listed = 1 THEN e.layer END, coalesce(e.project, ''), e.reader INTO NEW.layer, NEW.project, NEW.reader
      FROM entries e WHERE e.id = NEW.entry_id;
  END IF;
  RETURN NEW;
END $$;

-- A writer may leave out the columns of the access check.
CREATE TRIGGER entry_vectors_insert_scope BEFORE INSERT ON entry_vectors FOR EACH ROW EXECUTE FUNCTION entry_vectors_insert_scope();

CREATE TRIGGER entry_vectors_insert_counters AFTER INSERT ON entry_vectors REFERENCING NEW TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_changed_vectors();

CREATE TRIGGER entry_vectors_delete_counters AFTER DELETE ON entry_vectors REFERENCING OLD TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_changed_vectors();

CREATE FUNCTION entry_vectors_insert_index() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  added record;
BEGIN
  FOR added IN SELECT m.org, m.model, count(*) AS vectors FROM changed_rows m WHERE m.is_indexed GROUP BY m.org, m.model LOOP
    UPDATE entry_vectors SET is_indexed = true WHERE id = ANY (ARRAY(
      SELECT v.id FROM entry_vectors v WHERE v.org = added.org AND (v.model = added.model) IS TRUE AND NOT v.is_indexed LIMIT added.vectors
    ));
  END LOOP;
  RETURN NULL;
END $$;

-- Once an organization has more vectors than are compared one by one, each new vector moves one of the first into the index.
CREATE TRIGGER entry_vectors_insert_index AFTER INSERT ON entry_vectors REFERENCING NEW TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION entry_vectors_insert_index();

-- Rows of the audit log do not change, except that a row of repeated calls counts one more. Only a purge deletes rows.
CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF NEW.times = OLD.times + 1 AND length(NEW.ids) >= length(OLD.ids)
      AND (NEW.org, NEW.seq, NEW.at, NEW.key_id, NEW.agent, NEW.action, NEW.tool, NEW.allowed, NEW.detail, NEW.bytes_before)
        IS NOT DISTINCT FROM (
          OLD.org, OLD.seq, OLD.at, OLD.key_id, OLD.agent, OLD.action, OLD.tool, OLD.allowed, OLD.detail, OLD.bytes_before
        )
    THEN RETURN NEW; END IF;
  ELSIF TG_OP = 'DELETE' THEN
    IF EXISTS (SELECT 1 FROM audit_purge p WHERE OLD.at < p.before) THEN RETURN OLD; END IF;
  END IF;
  RAISE EXCEPTION 'commonplace: the audit log is append-only';
END $$;

CREATE TRIGGER audit_change_guard BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();

CREATE TRIGGER audit_truncate_guard BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

-- The newest row is counted as it is. What an older row gains is counted apart.
CREATE FUNCTION audit_update_usage() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM audit a WHERE a.org = NEW.org AND a.seq > NEW.seq) THEN
    PERFORM add_usage(NEW.org, 'audit', 0, NEW.bytes - OLD.bytes);
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER audit_update_usage AFTER UPDATE OF ids ON audit FOR EACH ROW
  WHEN (OLD.ids <> NEW.ids) EXECUTE FUNCTION audit_update_usage();

-- Deletes remove the oldest rows: what they hold beyond the numbers of the next remaining row was counted apart.
CREATE FUNCTION audit_delete_usage() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE usage_counters u SET bytes = u.bytes - gone.bytes - gone.first + coalesce(
      (SELECT a.bytes_before FROM audit a WHERE a.org = gone.org AND a.seq > gone.last ORDER BY a.seq LIMIT 1), gone.bytes + gone.first
    )
    FROM (
      SELECT org, sum(bytes)::bigint AS bytes, min(bytes_before) AS first, max(seq) AS last FROM changed_rows GROUP BY org
    ) AS gone
    WHERE u.org = gone.org AND u.part = 'audit';
  RETURN NULL;
END $$;

CREATE TRIGGER audit_delete_usage AFTER DELETE ON audit REFERENCING OLD TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION audit_delete_usage();

CREATE FUNCTION count_code_files() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN PERFORM add_code_counts(OLD, -1); END IF;
  IF TG_OP <> 'DELETE' THEN PERFORM add_code_counts(NEW, 1); END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER code_files_counters AFTER INSERT OR DELETE OR UPDATE OF model ON code_files
  FOR EACH ROW EXECUTE FUNCTION count_code_files();

-- Files count with the bytes that the client sent.
CREATE FUNCTION count_code_usage() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  sign integer := CASE WHEN TG_OP = 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  PERFORM add_usage(of_org.org, 'code', sign * of_org.items, (sign * of_org.bytes)::bigint)
    FROM (SELECT org, count(*) AS items, sum(bytes) AS bytes FROM changed_rows GROUP BY org ORDER BY org) AS of_org;
  RETURN NULL;
END $$;

CREATE TRIGGER code_files_insert_usage AFTER INSERT ON code_files REFERENCING NEW TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_code_usage();

CREATE TRIGGER code_files_delete_usage AFTER DELETE ON code_files REFERENCING OLD TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION count_code_usage();

CREATE FUNCTION capture_sessions_usage() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN PERFORM add_usage(OLD.org, 'capture', -1, -capture_session_bytes(OLD));
  ELSIF capture_session_bytes(NEW) <> capture_session_bytes(OLD) THEN
    PERFORM add_usage(NEW.org, 'capture', 0, capture_session_bytes(NEW) - capture_session_bytes(OLD));
  END IF;
  RETURN NULL;
END $$;

-- A request counts what it inserts, once (capture-store.ts).
CREATE TRIGGER capture_sessions_usage AFTER DELETE OR UPDATE OF state ON capture_sessions
  FOR EACH ROW EXECUTE FUNCTION capture_sessions_usage();

CREATE FUNCTION capture_events_usage() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN PERFORM add_usage(OLD.org, 'capture', -1, -octet_length(OLD.id || coalesce(OLD.output, '')));
  ELSE PERFORM add_usage(NEW.org, 'capture', 0, octet_length(coalesce(NEW.output, '')) - octet_length(coalesce(OLD.output, '')));
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER capture_events_usage AFTER DELETE OR UPDATE OF output ON capture_events
  FOR EACH ROW EXECUTE FUNCTION capture_events_usage();
