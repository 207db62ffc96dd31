-- What searches by words go by, and what a call for the present moment looks through.

-- The index holds terms only, no copy of the text: words arrive folded and stemmed (src/domain/search/analysis.ts), so the tokenizer
-- has nothing left to do but split at spaces. Marks belong to words in many scripts, hence the categories. `written`: words as they are
-- written, beside their stems, for searches by beginnings.
CREATE VIRTUAL TABLE entries_fts USING fts5(
  scope, title, body, code, context, written,
  content = '', contentless_delete = 1,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
);

-- It is never merged because much is gone, which a delete would have to wait for.
INSERT INTO entries_fts (entries_fts, rank) VALUES ('deletemerge', 0);

-- The schedule merges two parts of a size, where writes alone merge four: a search seeks each of its words in every part there is. What it
-- does at once is bounded (src/adapters/sqlite/merging.ts).
INSERT INTO entries_fts (entries_fts, rank) VALUES ('usermerge', 2);

-- Which words are in the index, one row each time that one stands somewhere; read one row at a time, by way of the word.
CREATE VIRTUAL TABLE entries_words USING fts5vocab(entries_fts, instance);

CREATE TRIGGER entries_unindexed AFTER DELETE ON entries
BEGIN
  DELETE FROM entries_fts WHERE rowid = OLD.id;
END;

-- Patterns in narrow rows, with their languages and files. A path of more than 1,024 characters counts as none: to cut it into folder
-- and name takes the square of its length on D1. Which kinds are patterns stands in domain/recall/current.ts.
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

-- What should stand there.
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

CREATE TRIGGER patterns_stored AFTER INSERT ON entries
  WHEN NEW.kind IN ('pattern', 'procedure', 'template', 'tool', 'code_pattern', 'rule', 'guide', 'convention')
BEGIN
  INSERT INTO patterns (
      org, layer, project, entry_id, reader, expires_at,
      language, file, folder, ending, code_file, code_folder, code_ending
    )
    SELECT * FROM pattern_rows WHERE entry_id = NEW.id;
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
