-- Source code of projects: files, what they declare, and the pieces that are searched. A file that changes is a new row with a new id;
-- whatever is made of it goes with the old one.

-- Counters of each project that has code, kept by triggers.
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

-- Narrow, and in order of the project, because a search for a part of a name looks at all of them.
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

CREATE TABLE code_symbol_texts (
  file_id INTEGER NOT NULL,
  n INTEGER NOT NULL,
  line_end INTEGER NOT NULL,
  signature TEXT NOT NULL,
  doc TEXT NOT NULL,
  PRIMARY KEY (file_id, n)
) WITHOUT ROWID;

-- Vectors of chunks, several in a row and a line each, because a search compares all of a project.
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

CREATE INDEX code_vectors_by_project ON code_vectors (org, project, model, id, count);

CREATE INDEX code_vectors_by_file ON code_vectors (file_id);

-- Runs of three characters of each file, and words of each chunk. Every term begins with its project, so that a search never walks what
-- belongs to another one.
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

CREATE TRIGGER code_chunks_removed AFTER DELETE ON code_chunks
BEGIN
  DELETE FROM code_words WHERE rowid = OLD.id;
END;

-- Files count among the bytes that an org may hold (0008), by what was sent.
CREATE TRIGGER usage_of_code_gain AFTER INSERT ON code_files
BEGIN
  INSERT INTO org_usage (org, part, items, bytes) VALUES (NEW.org, 'code', 1, NEW.bytes)
    ON CONFLICT (org, part) DO UPDATE SET items = items + 1, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER usage_of_code_loss AFTER DELETE ON code_files
BEGIN
  UPDATE org_usage SET items = items - 1, bytes = bytes - OLD.bytes WHERE org = OLD.org AND part = 'code';
END;
