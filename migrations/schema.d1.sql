-- Written by `npm run schema` from the migrations beside it; nothing applies it.

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  org TEXT NOT NULL,
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE, -- SHA-256 of the key, hexadecimal; the key itself is nowhere
  role TEXT NOT NULL CHECK (role IN ('reader', 'writer', 'admin')),
  projects TEXT, -- JSON list, null when not narrowed
  agent TEXT,
  owner TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  last_used_at INTEGER
, captures INTEGER NOT NULL DEFAULT 1) WITHOUT ROWID;

CREATE INDEX api_keys_by_maker ON api_keys (org, created_by);

CREATE INDEX api_keys_by_org ON api_keys (org, created_at, id);

CREATE TABLE audit (
  org TEXT NOT NULL,
  seq INTEGER NOT NULL,
  at INTEGER NOT NULL,
  key_id TEXT NOT NULL,
  agent TEXT,
  action TEXT NOT NULL,
  tool TEXT,
  ids TEXT NOT NULL, -- JSON list of entry ids
  allowed INTEGER NOT NULL CHECK (allowed IN (0, 1)),
  detail TEXT NOT NULL, -- JSON object of counts and codes, never text
  times INTEGER, -- how many calls alike a row stands for, in those of denials and of reads; null where each call has its own
  PRIMARY KEY (org, seq)
) WITHOUT ROWID;

CREATE INDEX audit_repeated ON audit (org, key_id, action, at) WHERE times IS NOT NULL;

CREATE TRIGGER audit_added BEFORE INSERT ON audit
  WHEN EXISTS (SELECT 1 FROM audit WHERE org = NEW.org AND seq = NEW.seq)
BEGIN
  SELECT raise(ABORT, 'commonplace: the audit log is append-only');
END;

CREATE TRIGGER audit_kept BEFORE DELETE ON audit
  WHEN NOT EXISTS (SELECT 1 FROM audit_purge p WHERE OLD.at < p.before)
BEGIN
  SELECT raise(ABORT, 'commonplace: the audit log is append-only');
END;

CREATE TRIGGER audit_unchanged BEFORE UPDATE ON audit
  WHEN OLD.times IS NULL OR NEW.times IS NOT OLD.times + 1 OR length(NEW.ids) < length(OLD.ids)
    OR (NEW.org, NEW.seq, NEW.at, NEW.key_id, NEW.agent, NEW.action, NEW.tool, NEW.allowed, NEW.detail)
      IS NOT (OLD.org, OLD.seq, OLD.at, OLD.key_id, OLD.agent, OLD.action, OLD.tool, OLD.allowed, OLD.detail)
BEGIN
  SELECT raise(ABORT, 'commonplace: the audit log is append-only');
END;

CREATE TRIGGER usage_of_audit_change AFTER UPDATE OF ids ON audit WHEN OLD.ids <> NEW.ids
BEGIN
  UPDATE org_usage SET bytes = bytes - length(CAST(OLD.ids AS BLOB)) + length(CAST(NEW.ids AS BLOB))
    WHERE org = NEW.org AND part = 'audit';
END;

CREATE TRIGGER usage_of_audit_gain AFTER INSERT ON audit
BEGIN
  INSERT INTO org_usage (org, part, items, bytes)
    VALUES (NEW.org, 'audit', 1, length(CAST(NEW.ids || NEW.detail || NEW.action || NEW.key_id AS BLOB)))
    ON CONFLICT (org, part) DO UPDATE SET items = items + 1, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER usage_of_audit_loss AFTER DELETE ON audit
BEGIN
  UPDATE org_usage SET items = items - 1, bytes = bytes - length(CAST(OLD.ids || OLD.detail || OLD.action || OLD.key_id AS BLOB))
    WHERE org = OLD.org AND part = 'audit';
END;

CREATE TABLE audit_purge (before INTEGER PRIMARY KEY);

CREATE TABLE capture_events (
  org TEXT NOT NULL,
  owner TEXT NOT NULL,
  id TEXT NOT NULL,
  at INTEGER NOT NULL,
  output TEXT, -- the text that was recalled; null for none
  PRIMARY KEY (org, owner, id)
) WITHOUT ROWID;

CREATE INDEX capture_events_told ON capture_events (org) WHERE output IS NOT NULL;

CREATE TRIGGER capture_events_change AFTER UPDATE OF output ON capture_events
BEGIN
  UPDATE org_usage SET bytes = bytes - octet_length(coalesce(OLD.output, '')) + octet_length(coalesce(NEW.output, ''))
    WHERE org = NEW.org AND part = 'capture';
END;

CREATE TRIGGER capture_events_gain AFTER INSERT ON capture_events
BEGIN
  INSERT INTO org_usage (org, part, items, bytes) VALUES (NEW.org, 'capture', 1, octet_length(NEW.id || coalesce(NEW.output, '')))
    ON CONFLICT (org, part) DO UPDATE SET items = items + 1, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER capture_events_loss AFTER DELETE ON capture_events
BEGIN
  UPDATE org_usage SET items = items - 1, bytes = bytes - octet_length(OLD.id || coalesce(OLD.output, ''))
    WHERE org = OLD.org AND part = 'capture';
END;

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

CREATE INDEX capture_sessions_by_entry ON capture_sessions (org, entry_id) WHERE entry_id IS NOT NULL;

CREATE INDEX capture_sessions_due ON capture_sessions (due_at) WHERE due_at IS NOT NULL;

CREATE TRIGGER capture_sessions_change AFTER UPDATE OF state ON capture_sessions
  WHEN (octet_length(OLD.session || OLD.state) + 1023) / 1024 <> (octet_length(NEW.session || NEW.state) + 1023) / 1024
BEGIN
  UPDATE org_usage SET bytes = bytes + 1024 * (
      (octet_length(NEW.session || NEW.state) + 1023) / 1024 - (octet_length(OLD.session || OLD.state) + 1023) / 1024
    )
    WHERE org = NEW.org AND part = 'capture';
END;

CREATE TRIGGER capture_sessions_gain AFTER INSERT ON capture_sessions
BEGIN
  INSERT INTO org_usage (org, part, items, bytes)
    VALUES (NEW.org, 'capture', 1, (octet_length(NEW.session || NEW.state) + 1023) / 1024 * 1024)
    ON CONFLICT (org, part) DO UPDATE SET items = items + 1, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER capture_sessions_loss AFTER DELETE ON capture_sessions
BEGIN
  UPDATE org_usage SET items = items - 1, bytes = bytes - (octet_length(OLD.session || OLD.state) + 1023) / 1024 * 1024
    WHERE org = OLD.org AND part = 'capture';
END;

CREATE TABLE capture_starts (
  org TEXT NOT NULL,
  owner TEXT NOT NULL,
  place TEXT NOT NULL, -- project and branch, as JSON
  digest TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (org, owner, place)
) WITHOUT ROWID;

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

CREATE INDEX changes_by_entry ON changes (entry_id, org);

CREATE INDEX changes_by_org ON changes (org, seq);

CREATE INDEX changes_deleted_by_thread ON changes (org, was_thread, entry_id) WHERE action = 'delete' AND erased = 0;

CREATE TABLE circle_counters (
  org TEXT NOT NULL,
  project TEXT NOT NULL, -- '' for none
  reader TEXT NOT NULL,
  entries INTEGER NOT NULL,
  user_entries INTEGER NOT NULL,
  multimodal INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  images INTEGER NOT NULL,
  summaries INTEGER NOT NULL,
  PRIMARY KEY (org, project, reader)
) WITHOUT ROWID;

CREATE TABLE code_chunks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  org TEXT NOT NULL,
  project TEXT NOT NULL,
  file_id INTEGER NOT NULL,
  n INTEGER NOT NULL, -- place in the file, from 0
  line_start INTEGER NOT NULL, -- from 1, overlap included
  line_end INTEGER NOT NULL,
  overlap TEXT NOT NULL, -- lines of the chunk before it
  text TEXT NOT NULL, -- lines that are in no other chunk
  folded TEXT, -- the text in lower case, where that is more than the letters A-Z
  UNIQUE (file_id, n)
);

CREATE TRIGGER code_chunks_removed AFTER DELETE ON code_chunks
BEGIN
  DELETE FROM code_words WHERE rowid = OLD.id;
END;

CREATE TABLE code_files (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused
  org TEXT NOT NULL,
  project TEXT NOT NULL,
  root TEXT NOT NULL, -- folder or repository that the path counts from; '' where none is named
  path TEXT NOT NULL,
  language TEXT NOT NULL,
  sha256 TEXT NOT NULL, -- of the content as it was sent, before secrets were taken out
  model TEXT, -- of its vectors, as in domain/vector.ts; empty when none are wanted, null while they are to be made
  bytes INTEGER NOT NULL,
  symbols INTEGER NOT NULL,
  chunks INTEGER NOT NULL,
  words INTEGER NOT NULL,
  UNIQUE (org, project, root, path)
);

CREATE INDEX code_files_pending ON code_files (id) WHERE model IS NULL;

CREATE TRIGGER code_files_added AFTER INSERT ON code_files
BEGIN
  INSERT INTO code_projects (org, project, files, symbols, chunks, words, bytes, pending)
    VALUES (NEW.org, NEW.project, 1, NEW.symbols, NEW.chunks, NEW.words, NEW.bytes, NEW.model IS NULL)
    ON CONFLICT (org, project) DO UPDATE SET
      files = files + 1, symbols = symbols + NEW.symbols, chunks = chunks + NEW.chunks, words = words + NEW.words,
      bytes = bytes + NEW.bytes, pending = pending + (NEW.model IS NULL);
END;

CREATE TRIGGER code_files_embedded AFTER UPDATE OF model ON code_files
BEGIN
  UPDATE code_projects SET pending = pending + (NEW.model IS NULL) - (OLD.model IS NULL)
    WHERE org = NEW.org AND project = NEW.project;
END;

CREATE TRIGGER code_files_removed AFTER DELETE ON code_files
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

CREATE TRIGGER usage_of_code_gain AFTER INSERT ON code_files
BEGIN
  INSERT INTO org_usage (org, part, items, bytes) VALUES (NEW.org, 'code', 1, NEW.bytes)
    ON CONFLICT (org, part) DO UPDATE SET items = items + 1, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER usage_of_code_loss AFTER DELETE ON code_files
BEGIN
  UPDATE org_usage SET items = items - 1, bytes = bytes - OLD.bytes WHERE org = OLD.org AND part = 'code';
END;

CREATE VIRTUAL TABLE code_grams USING fts5(
  grams,
  content = '', contentless_delete = 1, detail = none,
  tokenize = 'ascii'
);

CREATE TABLE code_projects (
  org TEXT NOT NULL,
  project TEXT NOT NULL,
  files INTEGER NOT NULL DEFAULT 0,
  symbols INTEGER NOT NULL DEFAULT 0,
  chunks INTEGER NOT NULL DEFAULT 0,
  words INTEGER NOT NULL DEFAULT 0, -- content words of all chunks, where they are indexed by words
  bytes INTEGER NOT NULL DEFAULT 0,
  pending INTEGER NOT NULL DEFAULT 0, -- files whose vectors are still to be made
  last_indexed INTEGER, -- milliseconds since 1970 of the last upload
  PRIMARY KEY (org, project)
) WITHOUT ROWID;

CREATE TABLE code_symbol_texts (
  file_id INTEGER NOT NULL,
  n INTEGER NOT NULL,
  line_end INTEGER NOT NULL,
  signature TEXT NOT NULL,
  doc TEXT NOT NULL,
  PRIMARY KEY (file_id, n)
) WITHOUT ROWID;

CREATE TABLE code_symbols (
  org TEXT NOT NULL,
  project TEXT NOT NULL,
  file_id INTEGER NOT NULL,
  n INTEGER NOT NULL,
  kind INTEGER NOT NULL, -- place in SYMBOL_KINDS
  name TEXT NOT NULL,
  folded TEXT NOT NULL,
  parts TEXT NOT NULL, -- of a camelCase or snake_case name, folded, each behind a space
  path TEXT NOT NULL,
  language TEXT NOT NULL,
  line_start INTEGER NOT NULL,
  PRIMARY KEY (org, project, file_id, n)
) WITHOUT ROWID;

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

CREATE INDEX code_vectors_by_file ON code_vectors (file_id);

CREATE INDEX code_vectors_by_project ON code_vectors (org, project, model, id, count);

CREATE VIRTUAL TABLE code_words USING fts5(
  words,
  content = '', contentless_delete = 1, detail = none,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
);

CREATE TABLE counted_later (
  org TEXT PRIMARY KEY,
  above INTEGER NOT NULL
) WITHOUT ROWID;

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

CREATE TABLE dangling_links (
  entry_id INTEGER PRIMARY KEY,
  org TEXT NOT NULL
);

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
, captured INTEGER NOT NULL DEFAULT 0);

CREATE INDEX entries_archived ON entries (org, layer, created_at, id, project) WHERE archived = 1 AND diary = 0 AND captured = 0;

CREATE INDEX entries_by_circle_turn ON entries (org, thread_id, source, reader, coalesce(project, ''), id) WHERE listed = 1;

CREATE INDEX entries_by_code_file ON entries (
    org,
    substr(
      CASE WHEN json_type(metadata, '$."codeBlock"."filePath"') = 'text' THEN json_extract(metadata, '$."codeBlock"."filePath"') END, 1, 256
    )
  )
  WHERE listed = 1 AND layer = 3;

CREATE INDEX entries_by_expiry ON entries (org, expires_at) WHERE expires_at IS NOT NULL;

CREATE INDEX entries_by_file ON entries (
    org,
    substr(
      CASE WHEN json_type(metadata, '$."fileContext"."path"') = 'text' THEN json_extract(metadata, '$."fileContext"."path"') END, 1, 256
    )
  )
  WHERE listed = 1 AND layer = 3;

CREATE INDEX entries_by_id ON entries (org, id, expires_at, reader, project) WHERE listed = 1;

CREATE INDEX entries_by_kind ON entries (org, kind, created_at, id, expires_at, reader, project) WHERE listed = 1 AND layer = 3;

CREATE INDEX entries_by_layer ON entries (org, layer, created_at, id, project, expires_at, reader, kind, pinned) WHERE listed = 1;

CREATE INDEX entries_by_long_text ON entries (org, text_hash) WHERE bytes > 16384;

CREATE INDEX entries_by_place ON entries (org, thread_id, id, expires_at, reader, project) WHERE listed = 1;

CREATE INDEX entries_by_problem ON entries (
    org, CASE WHEN json_type(metadata, '$."problem"') = 'text' THEN json_extract(metadata, '$."problem"') END
  )
  WHERE listed = 1 AND layer = 2
    AND CASE WHEN json_type(metadata, '$."problem"') = 'text' THEN json_extract(metadata, '$."problem"') END IS NOT NULL;

CREATE INDEX entries_by_text ON entries (org, substr(text_hash, 1, 16), layer) WHERE listed = 1;

CREATE INDEX entries_by_thread ON entries (org, thread_id, created_second, id, expires_at, reader, project, source)
  WHERE listed = 1;

CREATE INDEX entries_by_time ON entries (org, created_second, id, expires_at, reader, project) WHERE listed = 1;

CREATE INDEX entries_captured_by_project ON entries (org, project, updated_at, id) WHERE captured = 1;

CREATE INDEX entries_captured_by_thread ON entries (org, thread_id, id) WHERE captured = 1;

CREATE INDEX entries_decaying ON entries (id) WHERE layer = 3 AND archived = 0;

CREATE INDEX entries_ending ON entries (org, layer, project, expires_at, reader, kind, pinned, text_words)
  WHERE listed = 1 AND expires_at IS NOT NULL;

CREATE INDEX entries_expiring ON entries (expires_at) WHERE expires_at IS NOT NULL;

CREATE INDEX entries_in_flight ON entries (org, project, updated_at, id, kind, expires_at, reader)
  WHERE listed = 1 AND status IN ('doing', 'blocked', 'review');

CREATE INDEX entries_of_circle_by_time ON entries (org, thread_id, coalesce(project, ''), reader, created_second) WHERE listed = 1;

CREATE INDEX entries_of_diary ON entries (org, reader, substr(agent, 1, 64), created_at, id)
  WHERE diary = 1 AND archived = 0;

CREATE INDEX entries_of_kind ON entries (org, project, layer, kind, created_at, id, expires_at, reader) WHERE listed = 1;

CREATE INDEX entries_of_project ON entries (org, project, layer, created_at, id, expires_at, reader, kind, pinned) WHERE listed = 1;

CREATE INDEX entries_pinned ON entries (org, project, created_at, id) WHERE listed = 1 AND pinned = 1;

CREATE INDEX entries_unlisted ON entries (org, thread_id, id) WHERE listed = 0;

CREATE INDEX entries_unlisted_by_id ON entries (org, id) WHERE listed = 0;

CREATE INDEX entries_with_images ON entries (org, created_second, id, expires_at, reader, project, image_count)
  WHERE listed = 1 AND image_count > 0;

CREATE INDEX entries_with_large_metadata ON entries (org, id, octet_length(metadata)) WHERE listed = 1 AND octet_length(metadata) > 1024;

CREATE TRIGGER circles_changed AFTER UPDATE OF archived, diary, audience, owner, project ON entries
  WHEN (OLD.listed, OLD.project, OLD.reader) IS NOT (NEW.listed, NEW.project, NEW.reader)
BEGIN
  UPDATE circle_counters SET
      entries = entries - 1, user_entries = user_entries - (OLD.source = 'user'), multimodal = multimodal - (OLD.image_count > 0),
      bytes = bytes - OLD.bytes, images = images - OLD.image_count, summaries = summaries - (OLD.summary <> '')
    WHERE OLD.listed = 1 AND org = OLD.org AND project = coalesce(OLD.project, '') AND reader = OLD.reader;
  INSERT INTO circle_counters (org, project, reader, entries, user_entries, multimodal, bytes, images, summaries)
    SELECT NEW.org, coalesce(NEW.project, ''), NEW.reader, 1, NEW.source = 'user', NEW.image_count > 0, NEW.bytes, NEW.image_count,
      NEW.summary <> ''
    WHERE NEW.listed = 1
    ON CONFLICT (org, project, reader) DO UPDATE SET
      entries = entries + 1, user_entries = user_entries + excluded.user_entries, multimodal = multimodal + excluded.multimodal,
      bytes = bytes + excluded.bytes, images = images + excluded.images, summaries = summaries + excluded.summaries;
  DELETE FROM circle_counters
    WHERE org = OLD.org AND project = coalesce(OLD.project, '') AND reader = OLD.reader AND entries = 0;
END;

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

CREATE TRIGGER circles_loss AFTER DELETE ON entries WHEN OLD.listed = 1
BEGIN
  DELETE FROM circle_counters
    WHERE org = OLD.org AND project = coalesce(OLD.project, '') AND reader = OLD.reader AND entries = 1;
  UPDATE circle_counters SET
      entries = entries - 1, user_entries = user_entries - (OLD.source = 'user'), multimodal = multimodal - (OLD.image_count > 0),
      bytes = bytes - OLD.bytes, images = images - OLD.image_count, summaries = summaries - (OLD.summary <> '')
    WHERE org = OLD.org AND project = coalesce(OLD.project, '') AND reader = OLD.reader;
END;

CREATE TRIGGER circles_resized AFTER UPDATE OF image_count, bytes, summary ON entries
  WHEN OLD.listed = 1 AND (OLD.listed, OLD.project, OLD.reader) IS (NEW.listed, NEW.project, NEW.reader)
    AND (OLD.image_count, OLD.bytes, OLD.summary <> '') IS NOT (NEW.image_count, NEW.bytes, NEW.summary <> '')
BEGIN
  UPDATE circle_counters SET
      multimodal = multimodal - (OLD.image_count > 0) + (NEW.image_count > 0), bytes = bytes - OLD.bytes + NEW.bytes,
      images = images - OLD.image_count + NEW.image_count, summaries = summaries - (OLD.summary <> '') + (NEW.summary <> '')
    WHERE org = OLD.org AND project = coalesce(OLD.project, '') AND reader = OLD.reader;
END;

CREATE TRIGGER counters_gain AFTER INSERT ON entries WHEN NEW.listed = 1
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

CREATE TRIGGER counters_joined AFTER UPDATE OF archived, diary, audience, owner, project, thread_id ON entries
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

CREATE TRIGGER counters_left AFTER UPDATE OF archived, diary, audience, owner, project, thread_id ON entries
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

CREATE TRIGGER counters_resized AFTER UPDATE OF image_count, bytes, text_words ON entries
  WHEN OLD.listed = 1 AND (NEW.listed, NEW.project, NEW.reader, NEW.thread_id) IS (OLD.listed, OLD.project, OLD.reader, OLD.thread_id)
    AND (NEW.image_count, NEW.bytes, NEW.text_words) IS NOT (OLD.image_count, OLD.bytes, OLD.text_words)
BEGIN
  UPDATE thread_counters SET
      multimodal = multimodal - (OLD.image_count > 0) + (NEW.image_count > 0), bytes = bytes - OLD.bytes + NEW.bytes,
      words = words - OLD.text_words + NEW.text_words
    WHERE org = OLD.org AND thread_id = OLD.thread_id AND project = coalesce(OLD.project, '') AND reader = OLD.reader;
END;

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

CREATE TRIGGER entries_reillustrated AFTER UPDATE OF images ON entries WHEN OLD.images IS NOT NEW.images
BEGIN
  DELETE FROM image_uses WHERE entry_id = NEW.id;
  INSERT INTO image_uses (org, hash, entry_id, size, mime_type)
    SELECT DISTINCT NEW.org, value ->> 'hash', NEW.id, value ->> 'size', value ->> 'mimeType' FROM json_each(NEW.images);
END;

CREATE TRIGGER entries_relinked AFTER UPDATE OF links ON entries WHEN OLD.links IS NOT NEW.links
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

CREATE TRIGGER entries_stored AFTER INSERT ON entries
BEGIN
  INSERT INTO entry_tags (org, tag, layer, project, entry_id, created_at, kind, reader, expires_at, listed)
    SELECT NEW.org, value, NEW.layer, coalesce(NEW.project, ''), NEW.id, NEW.created_at, NEW.kind, NEW.reader, NEW.expires_at, NEW.listed
    FROM json_each(NEW.tags);
  INSERT OR IGNORE INTO image_uses (org, hash, entry_id, size, mime_type)
    SELECT NEW.org, value ->> 'hash', NEW.id, value ->> 'size', value ->> 'mimeType' FROM json_each(NEW.images);
  INSERT OR IGNORE INTO links (org, from_id, relation, to_id, origin, made_by)
    SELECT NEW.org, NEW.id, value ->> 0, value ->> 1, 'metadata', coalesce(NEW.changed_by, NEW.created_by, '')
    FROM json_each(NEW.links) WHERE value ->> 1 <> NEW.id;
  INSERT INTO changes (org, entry_id, action, version, at, change_id, key_id, agent, thread_id, project, kind, reader)
    SELECT NEW.org, NEW.id, 'store', NEW.version, NEW.updated_at,
      coalesce(w.change_id, lower(hex(randomblob(16)))), NEW.changed_by, NEW.changed_agent,
      NEW.thread_id, NEW.project, NEW.kind,
      CASE WHEN (NEW.listed = 1 OR NEW.captured = 1) AND (NEW.expires_at IS NULL OR NEW.expires_at > NEW.updated_at) THEN NEW.reader END
    FROM (SELECT 1) LEFT JOIN writing w ON w.org IN (NEW.org, '');
END;

CREATE TRIGGER entries_unindexed AFTER DELETE ON entries
BEGIN
  DELETE FROM entries_fts WHERE rowid = OLD.id;
END;

CREATE TRIGGER entries_unvectored AFTER DELETE ON entries
BEGIN
  DELETE FROM entry_vectors WHERE entry_id = OLD.id;
END;

CREATE TRIGGER layers_gain AFTER INSERT ON entries WHEN NEW.listed = 1 AND NEW.expires_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM counted_later l WHERE l.org = NEW.org AND l.above < NEW.id)
BEGIN
  INSERT INTO layer_counters (org, layer, project, reader, kind, pinned, entries, words, first_id, last_id)
    VALUES (NEW.org, NEW.layer, coalesce(NEW.project, ''), NEW.reader, NEW.kind, NEW.pinned, 1, NEW.text_words, NEW.id, NEW.id)
    ON CONFLICT (org, layer, project, reader, kind, pinned) DO UPDATE SET
      entries = entries + 1, words = words + excluded.words,
      first_id = min(first_id, excluded.first_id), last_id = max(last_id, excluded.last_id);
END;

CREATE TRIGGER layers_joined AFTER UPDATE OF
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

CREATE TRIGGER layers_left AFTER UPDATE OF
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

CREATE TRIGGER layers_loss AFTER DELETE ON entries WHEN OLD.listed = 1 AND OLD.expires_at IS NULL
BEGIN
  DELETE FROM layer_counters
    WHERE org = OLD.org AND layer = OLD.layer AND project = coalesce(OLD.project, '') AND reader = OLD.reader
      AND kind = OLD.kind AND pinned = OLD.pinned AND entries = 1;
  UPDATE layer_counters SET entries = entries - 1, words = words - OLD.text_words
    WHERE org = OLD.org AND layer = OLD.layer AND project = coalesce(OLD.project, '') AND reader = OLD.reader
      AND kind = OLD.kind AND pinned = OLD.pinned;
END;

CREATE TRIGGER layers_resized AFTER UPDATE OF text_words ON entries
  WHEN OLD.listed = 1 AND OLD.expires_at IS NULL AND OLD.text_words <> NEW.text_words
    AND (NEW.listed, NEW.expires_at, NEW.layer, NEW.project, NEW.reader, NEW.kind, NEW.pinned)
      IS (OLD.listed, OLD.expires_at, OLD.layer, OLD.project, OLD.reader, OLD.kind, OLD.pinned)
BEGIN
  UPDATE layer_counters SET words = words - OLD.text_words + NEW.text_words
    WHERE org = OLD.org AND layer = OLD.layer AND project = coalesce(OLD.project, '') AND reader = OLD.reader
      AND kind = OLD.kind AND pinned = OLD.pinned;
END;

CREATE TRIGGER long_texts_deleted AFTER DELETE ON entries WHEN OLD.bytes > 16384
BEGIN
  DELETE FROM long_texts WHERE org = OLD.org AND hash = OLD.text_hash
    AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.org = OLD.org AND e.text_hash = OLD.text_hash AND e.bytes > 16384)
    AND NOT EXISTS (SELECT 1 FROM entry_versions v WHERE v.org = OLD.org AND v.text_hash = OLD.text_hash AND v.bytes > 16384)
    AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.org = OLD.org AND o.topic = 'text' AND o.key = OLD.text_hash);
END;

CREATE TRIGGER long_texts_replaced AFTER UPDATE OF text_hash ON entries WHEN OLD.bytes > 16384 AND OLD.text_hash <> NEW.text_hash
BEGIN
  DELETE FROM long_texts WHERE org = OLD.org AND hash = OLD.text_hash
    AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.org = OLD.org AND e.text_hash = OLD.text_hash AND e.bytes > 16384)
    AND NOT EXISTS (SELECT 1 FROM entry_versions v WHERE v.org = OLD.org AND v.text_hash = OLD.text_hash AND v.bytes > 16384)
    AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.org = OLD.org AND o.topic = 'text' AND o.key = OLD.text_hash);
END;

CREATE TRIGGER marks_deleted AFTER DELETE ON entries
BEGIN
  DELETE FROM text_marks WHERE entry_id = OLD.id;
END;

CREATE TRIGGER patterns_changed AFTER UPDATE OF
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

CREATE TRIGGER patterns_deleted AFTER DELETE ON entries
  WHEN OLD.kind IN ('pattern', 'procedure', 'template', 'tool', 'code_pattern', 'rule', 'guide', 'convention')
BEGIN
  DELETE FROM patterns
    WHERE org = OLD.org AND layer = OLD.layer AND project = coalesce(OLD.project, '') AND entry_id = OLD.id;
END;

CREATE TRIGGER patterns_stored AFTER INSERT ON entries
  WHEN NEW.kind IN ('pattern', 'procedure', 'template', 'tool', 'code_pattern', 'rule', 'guide', 'convention')
BEGIN
  INSERT INTO patterns (
      org, layer, project, entry_id, reader, expires_at,
      language, file, folder, ending, code_file, code_folder, code_ending
    )
    SELECT * FROM pattern_rows WHERE entry_id = NEW.id;
END;

CREATE TRIGGER references_deleted AFTER DELETE ON entries
BEGIN
  DELETE FROM import_references WHERE entry_id = OLD.id;
END;

CREATE TRIGGER usage_change AFTER UPDATE OF bytes ON entries WHEN OLD.bytes <> NEW.bytes
BEGIN
  UPDATE org_usage SET bytes = bytes - OLD.bytes + NEW.bytes WHERE org = NEW.org AND part = 'entries';
END;

CREATE TRIGGER usage_gain AFTER INSERT ON entries
  WHEN NOT EXISTS (SELECT 1 FROM counted_later l WHERE l.org = NEW.org AND l.above < NEW.id)
BEGIN
  INSERT INTO org_usage (org, part, items, bytes) VALUES (NEW.org, 'entries', 1, NEW.bytes)
    ON CONFLICT (org, part) DO UPDATE SET items = items + 1, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER usage_loss AFTER DELETE ON entries
BEGIN
  UPDATE org_usage SET items = items - 1, bytes = bytes - OLD.bytes WHERE org = OLD.org AND part = 'entries';
END;

CREATE TRIGGER vectors_leaving BEFORE DELETE ON entries WHEN OLD.listed = 1
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

CREATE TRIGGER vectors_moved AFTER UPDATE OF archived, diary, audience, owner, project ON entries
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

CREATE TRIGGER vectors_resettled AFTER UPDATE OF layer, project, audience, owner, diary, archived ON entries
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
        SELECT nullif(json_group_array(json_array(from_id, relation, to_id, origin, made_by)), '[]') FROM links
        WHERE org = OLD.org AND from_id = OLD.id AND (origin <> 'metadata' OR relation = 'supersedes')
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

CREATE VIRTUAL TABLE entries_fts USING fts5(
  scope, title, body, code, context, written,
  content = '', contentless_delete = 1,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
);

CREATE VIRTUAL TABLE entries_words USING fts5vocab(entries_fts, instance);

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

CREATE INDEX entry_tags_by_time ON entry_tags (org, tag, created_at / 1000, entry_id, expires_at, reader, project) WHERE listed = 1;

CREATE TRIGGER tags_gain AFTER INSERT ON entry_tags WHEN NEW.listed = 1
  AND NOT EXISTS (SELECT 1 FROM counted_later l WHERE l.org = NEW.org AND l.above < NEW.entry_id)
BEGIN
  INSERT INTO tag_counters (org, tag, project, reader, uses) VALUES (NEW.org, NEW.tag, NEW.project, NEW.reader, 1)
    ON CONFLICT (org, tag, project, reader) DO UPDATE SET uses = uses + 1;
END;

CREATE TRIGGER tags_loss AFTER DELETE ON entry_tags WHEN OLD.listed = 1
BEGIN
  DELETE FROM tag_counters
    WHERE org = OLD.org AND tag = OLD.tag AND project = OLD.project AND reader = OLD.reader AND uses = 1;
  UPDATE tag_counters SET uses = uses - 1
    WHERE org = OLD.org AND tag = OLD.tag AND project = OLD.project AND reader = OLD.reader;
END;

CREATE TABLE entry_vectors (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused: a text that changes gets new rows
  org TEXT NOT NULL,
  entry_id INTEGER NOT NULL,
  model TEXT NOT NULL, -- model and dimensions, as in domain/vector.ts
  chunk INTEGER NOT NULL,
  start INTEGER NOT NULL, -- code points of the text from which the vector was made
  length INTEGER NOT NULL,
  layer INTEGER, -- null where no list shows the entry
  project TEXT, -- '' for none
  reader TEXT,
  data TEXT NOT NULL, -- scale and int8 values as text; never BLOB, which D1 returns as arrays of numbers
  UNIQUE (entry_id, model, chunk)
);

CREATE INDEX entry_vectors_by_org ON entry_vectors (org, model, id);

CREATE TRIGGER vectors_added AFTER INSERT ON entry_vectors
  WHEN NOT EXISTS (
    SELECT 1 FROM outbox WHERE org = NEW.org AND topic = 'vector_sync' AND key = NEW.model AND state = 'pending' AND due_at = 0
  )
BEGIN
  INSERT INTO outbox (org, topic, key, created_at, due_at) VALUES (NEW.org, 'vector_sync', NEW.model, unixepoch() * 1000, 0)
    ON CONFLICT (org, topic, key) DO UPDATE SET state = 'pending', due_at = 0;
END;

CREATE TRIGGER vectors_counted AFTER INSERT ON entry_vectors
  WHEN NOT EXISTS (SELECT 1 FROM counted_later l WHERE l.org = NEW.org AND l.above < NEW.entry_id)
BEGIN
  INSERT INTO vector_counters (org, project, reader, model, entries, vectors, bytes)
    SELECT e.org, coalesce(e.project, ''), e.reader, NEW.model, NEW.chunk = 0, 1, octet_length(NEW.data)
    FROM entries e WHERE e.id = NEW.entry_id AND e.listed = 1
    ON CONFLICT (org, project, reader, model) DO UPDATE SET
      entries = entries + excluded.entries, vectors = vectors + 1, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER vectors_placed AFTER INSERT ON entry_vectors WHEN NEW.project IS NULL
BEGIN
  UPDATE entry_vectors SET (layer, project, reader) = (
      SELECT CASE WHEN e.listed = 1 THEN e.layer END, coalesce(e.project, ''), e.reader FROM entries e WHERE e.id = NEW.entry_id
    )
    WHERE id = NEW.id;
END;

CREATE TRIGGER vectors_removed AFTER DELETE ON entry_vectors
BEGIN
  INSERT INTO vector_removals (org, vector_id) VALUES (OLD.org, OLD.id);
  INSERT INTO outbox (org, topic, key, created_at, due_at)
    SELECT OLD.org, 'vector_sync', OLD.model, unixepoch() * 1000, 0
    WHERE NOT EXISTS (
      SELECT 1 FROM outbox WHERE org = OLD.org AND topic = 'vector_sync' AND key = OLD.model AND state = 'pending' AND due_at = 0
    )
    ON CONFLICT (org, topic, key) DO UPDATE SET state = 'pending', due_at = 0;
END;

CREATE TRIGGER vectors_uncounted AFTER DELETE ON entry_vectors
BEGIN
  UPDATE vector_counters SET
      entries = vector_counters.entries - (OLD.chunk = 0), vectors = vectors - 1, bytes = vector_counters.bytes - octet_length(OLD.data)
    FROM (SELECT e.org, coalesce(e.project, '') AS project, e.reader FROM entries e WHERE e.id = OLD.entry_id AND e.listed = 1) was
    WHERE vector_counters.org = was.org AND vector_counters.project = was.project AND vector_counters.reader = was.reader
      AND vector_counters.model = OLD.model;
END;

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

CREATE INDEX entry_versions_by_call ON entry_versions (org, change_id, entry_id) WHERE deleted = 1;

CREATE UNIQUE INDEX entry_versions_by_entry ON entry_versions (entry_id, version);

CREATE INDEX versions_by_long_text ON entry_versions (org, text_hash) WHERE bytes > 16384;

CREATE INDEX versions_by_org ON entry_versions (org) WHERE id > 0;

CREATE INDEX versions_deleted_by_id ON entry_versions (org, entry_id) WHERE deleted = 1;

CREATE INDEX versions_deleted_by_thread ON entry_versions (org, thread_id, entry_id) WHERE deleted = 1;

CREATE TRIGGER links_forgotten AFTER DELETE ON entry_versions
BEGIN
  INSERT OR IGNORE INTO dangling_links (entry_id, org)
    SELECT OLD.entry_id, OLD.org
    WHERE EXISTS (SELECT 1 FROM links WHERE to_id = OLD.entry_id)
      AND NOT EXISTS (SELECT 1 FROM entry_versions WHERE entry_id = OLD.entry_id)
      AND NOT EXISTS (SELECT 1 FROM entries WHERE id = OLD.entry_id);
END;

CREATE TRIGGER long_texts_forgotten AFTER DELETE ON entry_versions WHEN OLD.bytes > 16384
BEGIN
  DELETE FROM long_texts WHERE org = OLD.org AND hash = OLD.text_hash
    AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.org = OLD.org AND e.text_hash = OLD.text_hash AND e.bytes > 16384)
    AND NOT EXISTS (SELECT 1 FROM entry_versions v WHERE v.org = OLD.org AND v.text_hash = OLD.text_hash AND v.bytes > 16384)
    AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.org = OLD.org AND o.topic = 'text' AND o.key = OLD.text_hash);
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

CREATE TRIGGER versions_illustrated AFTER INSERT ON entry_versions WHEN NEW.images IS NOT NULL
BEGIN
  INSERT INTO image_uses (org, hash, entry_id, size, mime_type)
    SELECT DISTINCT NEW.org, value ->> 'hash', -NEW.id, value ->> 'size', value ->> 'mimeType' FROM json_each(NEW.images);
END;

CREATE TABLE feed_floors (
  org TEXT PRIMARY KEY,
  seq INTEGER NOT NULL
) WITHOUT ROWID;

CREATE VIEW guards AS SELECT 1 AS holds, '' AS premise;

CREATE TRIGGER guards_check INSTEAD OF INSERT ON guards WHEN NEW.holds IS NOT 1 AND NEW.premise IS NULL
BEGIN
  SELECT raise(ABORT, 'commonplace: premise no longer holds');
END;

CREATE TRIGGER guards_check_bytes INSTEAD OF INSERT ON guards WHEN NEW.holds IS NOT 1 AND NEW.premise = 'MAX_BYTES_PER_ORG'
BEGIN
  SELECT raise(ABORT, 'commonplace: premise no longer holds: MAX_BYTES_PER_ORG');
END;

CREATE TRIGGER guards_check_entries INSTEAD OF INSERT ON guards WHEN NEW.holds IS NOT 1 AND NEW.premise = 'MAX_ENTRIES_PER_ORG'
BEGIN
  SELECT raise(ABORT, 'commonplace: premise no longer holds: MAX_ENTRIES_PER_ORG');
END;

CREATE TRIGGER guards_check_equal INSTEAD OF INSERT ON guards WHEN NEW.holds IS NOT 1 AND NEW.premise = 'equal'
BEGIN
  SELECT raise(ABORT, 'commonplace: premise no longer holds: equal');
END;

CREATE TRIGGER guards_check_receipt INSTEAD OF INSERT ON guards WHEN NEW.holds IS NOT 1 AND NEW.premise = 'receipt'
BEGIN
  SELECT raise(ABORT, 'commonplace: premise no longer holds: receipt');
END;

CREATE TRIGGER guards_check_related INSTEAD OF INSERT ON guards WHEN NEW.holds IS NOT 1 AND NEW.premise = 'related_to'
BEGIN
  SELECT raise(ABORT, 'commonplace: premise no longer holds: related_to');
END;

CREATE TABLE image_removals (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- another one for each removal
  org TEXT NOT NULL,
  hash TEXT NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (org, hash)
);

CREATE INDEX image_removals_by_time ON image_removals (at);

CREATE TABLE image_uses (
  org TEXT NOT NULL,
  hash TEXT NOT NULL,
  entry_id INTEGER NOT NULL,
  size INTEGER NOT NULL,
  mime_type TEXT NOT NULL,
  PRIMARY KEY (org, hash, entry_id)
) WITHOUT ROWID;

CREATE INDEX image_uses_by_entry ON image_uses (entry_id);

CREATE TRIGGER images_unused AFTER DELETE ON image_uses
  WHEN NOT EXISTS (SELECT 1 FROM images_in_use WHERE org = OLD.org AND hash = OLD.hash)
BEGIN
  INSERT INTO outbox (org, topic, key, created_at, due_at) VALUES (OLD.org, 'image_delete', OLD.hash, unixepoch() * 1000, 0)
    ON CONFLICT (org, topic, key) DO NOTHING;
END;

CREATE TRIGGER images_used AFTER INSERT ON image_uses
BEGIN
  DELETE FROM outbox WHERE org = NEW.org AND topic = 'image_delete' AND key = NEW.hash AND state <> 'claimed';
END;

CREATE TRIGGER usage_of_images_gain AFTER INSERT ON image_uses
  WHEN NOT EXISTS (SELECT 1 FROM image_uses WHERE org = NEW.org AND hash = NEW.hash AND entry_id <> NEW.entry_id)
BEGIN
  INSERT INTO org_usage (org, part, items, bytes) VALUES (NEW.org, 'images', 1, NEW.size)
    ON CONFLICT (org, part) DO UPDATE SET items = items + 1, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER usage_of_images_loss AFTER DELETE ON image_uses
  WHEN NOT EXISTS (SELECT 1 FROM image_uses WHERE org = OLD.org AND hash = OLD.hash)
BEGIN
  UPDATE org_usage SET items = items - 1, bytes = bytes - OLD.size WHERE org = OLD.org AND part = 'images';
END;

CREATE VIEW images_in_use AS SELECT org, hash FROM image_uses;

CREATE TABLE import_references (
  org TEXT NOT NULL,
  store TEXT NOT NULL,
  their_id TEXT NOT NULL, -- of what has not come
  entry_id INTEGER NOT NULL, -- that says it
  relation TEXT NOT NULL, -- '' for an id in its metadata
  origin TEXT NOT NULL, -- '' likewise
  PRIMARY KEY (org, store, their_id, entry_id, relation, origin)
) WITHOUT ROWID;

CREATE INDEX import_references_by_entry ON import_references (entry_id);

CREATE TABLE imported (
  org TEXT NOT NULL,
  store TEXT NOT NULL,
  their_id TEXT NOT NULL,
  owner TEXT NOT NULL, -- who brought it; '' for a holder of ADMIN_TOKEN and for open mode
  entry_id INTEGER NOT NULL,
  version INTEGER NOT NULL, -- at which it stood after it came; 0: not yet
  at INTEGER NOT NULL, -- of the newest file that it came with, milliseconds since 1970
  PRIMARY KEY (org, store, their_id, owner)
) WITHOUT ROWID;

CREATE INDEX imported_by_entry ON imported (entry_id);

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

CREATE INDEX last_seen_by_time ON last_seen (org, owner, seen_at);

CREATE INDEX last_seen_newest ON last_seen (org, owner, agent, project, seen_at);

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

CREATE TABLE leaving (
  entry_id INTEGER PRIMARY KEY,
  org TEXT NOT NULL,
  part INTEGER NOT NULL, -- from 1; what goes together
  -- Who deletes and how, as in `writing`.
  change_id TEXT NOT NULL,
  key_id TEXT,
  agent TEXT,
  at INTEGER,
  keeps INTEGER NOT NULL,
  erases INTEGER NOT NULL -- whether nothing of their history is left either
);

CREATE INDEX leaving_by_call ON leaving (org, change_id, part);

CREATE TABLE links (
  org TEXT NOT NULL,
  from_id INTEGER NOT NULL,
  relation TEXT NOT NULL,
  to_id INTEGER NOT NULL,
  origin TEXT NOT NULL DEFAULT 'metadata' CHECK (origin IN ('metadata', 'remember', 'system')), made_by TEXT,
  PRIMARY KEY (org, from_id, relation, to_id, origin)
) WITHOUT ROWID;

CREATE INDEX links_by_target ON links (to_id, from_id);

CREATE INDEX links_in_dispute ON links (to_id, relation, from_id) WHERE relation = 'supersedes' OR relation = 'contradicts';

CREATE TABLE long_texts (
  org TEXT NOT NULL,
  hash TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (org, hash)
);

CREATE TRIGGER beginnings_dropped AFTER DELETE ON long_texts
BEGIN
  DELETE FROM text_beginnings WHERE org = OLD.org AND hash = OLD.hash;
END;

CREATE TRIGGER beginnings_kept AFTER INSERT ON long_texts WHEN length(NEW.text) > 100000
BEGIN
  INSERT INTO text_beginnings (org, hash, text) VALUES (NEW.org, NEW.hash, substr(NEW.text, 1, 60000)) ON CONFLICT (org, hash) DO NOTHING;
END;

CREATE TABLE org_usage (
  org TEXT NOT NULL,
  part TEXT NOT NULL, -- 'entries': text and metadata; 'images'
  items INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  -- What stood there when the write that is going on began, so that one that takes no more room is never refused.
  items_before INTEGER NOT NULL DEFAULT 0,
  bytes_before INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (org, part)
) WITHOUT ROWID;

CREATE TABLE orgs (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL -- milliseconds since 1970
) WITHOUT ROWID;

CREATE TABLE outbox (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  org TEXT NOT NULL,
  topic TEXT NOT NULL,
  key TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'claimed', 'failed')), -- 'claimed': a worker is acting on it now
  attempts INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  last_error TEXT,
  token TEXT, -- who took it last
  UNIQUE (org, topic, key)
);

CREATE INDEX outbox_by_due ON outbox (topic, due_at, id);

CREATE TABLE owners (
  org TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (org, name)
) WITHOUT ROWID;

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

CREATE TABLE patterns (
  org TEXT NOT NULL,
  layer INTEGER NOT NULL,
  project TEXT NOT NULL, -- '' for none
  entry_id INTEGER NOT NULL,
  reader TEXT NOT NULL,
  expires_at INTEGER,
  language TEXT NOT NULL, -- in lower case, the first 100 characters
  file TEXT,
  folder TEXT, -- up to and with the last / or \
  ending TEXT, -- without its dot, in lower case
  code_file TEXT,
  code_folder TEXT,
  code_ending TEXT,
  PRIMARY KEY (org, layer, project, entry_id)
) WITHOUT ROWID;

CREATE INDEX patterns_by_entry ON patterns (entry_id);

CREATE TABLE projects (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (org, id)
) WITHOUT ROWID;

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

CREATE INDEX receipts_by_call ON receipts (org, change_id);

CREATE INDEX receipts_by_time ON receipts (at);

CREATE TRIGGER receipts_change AFTER UPDATE OF effect, answer, notes, told, text ON receipts
BEGIN
  UPDATE org_usage SET bytes = bytes - OLD.bytes + NEW.bytes WHERE org = NEW.org AND part = 'receipts';
END;

CREATE TRIGGER receipts_gain AFTER INSERT ON receipts
BEGIN
  INSERT INTO org_usage (org, part, items, bytes) VALUES (NEW.org, 'receipts', 1, NEW.bytes)
    ON CONFLICT (org, part) DO UPDATE SET items = items + 1, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER receipts_loss AFTER DELETE ON receipts
BEGIN
  UPDATE org_usage SET items = items - 1, bytes = bytes - OLD.bytes WHERE org = OLD.org AND part = 'receipts';
END;

CREATE TABLE schedule (
  step TEXT PRIMARY KEY,
  cursor TEXT, -- where its next round begins; null at the start
  finished_at INTEGER, -- when it last came to its end
  failures INTEGER NOT NULL DEFAULT 0, -- since it last succeeded
  last_error TEXT
) WITHOUT ROWID;

CREATE TABLE settings (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE tag_counters (
  org TEXT NOT NULL,
  tag TEXT NOT NULL,
  project TEXT NOT NULL,
  reader TEXT NOT NULL,
  uses INTEGER NOT NULL,
  PRIMARY KEY (org, tag, project, reader)
) WITHOUT ROWID;

CREATE TABLE text_beginnings (
  org TEXT NOT NULL,
  hash TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (org, hash)
);

CREATE TABLE text_marks (
  entry_id INTEGER PRIMARY KEY,
  text_hash TEXT NOT NULL,
  chars INTEGER NOT NULL,
  lines INTEGER NOT NULL,
  starts TEXT NOT NULL -- JSON list
);

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

CREATE INDEX thread_counters_by_use ON thread_counters (org, last_second, last_id, reader, project);

CREATE TABLE transfer_stores (
  org TEXT PRIMARY KEY,
  store TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE vector_counters (
  org TEXT NOT NULL,
  project TEXT NOT NULL,
  reader TEXT NOT NULL,
  model TEXT NOT NULL,
  entries INTEGER NOT NULL, -- those with a first chunk
  vectors INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (org, project, reader, model)
) WITHOUT ROWID;

CREATE TABLE vector_removals (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  org TEXT NOT NULL,
  vector_id INTEGER NOT NULL
);

CREATE INDEX vector_removals_by_org ON vector_removals (org, id);

CREATE TABLE version_counters (
  org TEXT NOT NULL,
  project TEXT NOT NULL, -- '' for none
  reader TEXT NOT NULL,
  versions INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (org, project, reader)
) WITHOUT ROWID;

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
