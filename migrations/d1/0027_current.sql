-- What a call for the present moment looks through, in a few narrow rows: patterns with their languages and files, and what belongs to
-- the whole org by its file. And where the entries of a tag are, so that other projects cost a list by tags nothing.

-- A pattern as it should stand in the table below. A path of more than 1,024 characters counts as none: to cut it into folder and name
-- takes the square of its length here. Which kinds are patterns stands in domain/recall/current.ts.
CREATE VIEW pattern_rows AS
  SELECT named.org, named.layer, named.project, named.entry_id, named.reader, named.expires_at, named.weight, named.uses, named.used_at,
    lower(substr(named.language, 1, 100)) AS language,
    named.file, named.folder,
    CASE WHEN instr(named.name, '.') > 0 THEN lower(substr(named.name, length(rtrim(named.name, replace(named.name, '.', ''))) + 1)) END AS ending,
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
        SELECT e.org, e.layer, coalesce(e.project, '') AS project, e.id AS entry_id, e.reader, e.expires_at, e.weight,
          e.access_count AS uses, coalesce(e.accessed_at, e.created_at) AS used_at,
          coalesce(
            CASE WHEN json_type(e.metadata, '$.codeBlock.language') = 'text' THEN json_extract(e.metadata, '$.codeBlock.language') END,
            CASE WHEN json_type(e.metadata, '$.fileContext.language') = 'text' THEN json_extract(e.metadata, '$.fileContext.language') END,
            'text'
          ) AS language,
          CASE WHEN json_type(e.metadata, '$.fileContext.path') = 'text' AND length(json_extract(e.metadata, '$.fileContext.path')) <= 1024
            THEN json_extract(e.metadata, '$.fileContext.path') END AS file,
          CASE WHEN json_type(e.metadata, '$.codeBlock.filePath') = 'text' AND length(json_extract(e.metadata, '$.codeBlock.filePath')) <= 1024
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
  weight INTEGER NOT NULL,
  uses INTEGER NOT NULL,
  used_at INTEGER NOT NULL, -- the last access, else the creation
  language TEXT NOT NULL, -- in lower case, the first 100 characters
  file TEXT,
  folder TEXT, -- up to and with the last / or \
  ending TEXT, -- without its dot, in lower case
  code_file TEXT,
  code_folder TEXT,
  code_ending TEXT,
  PRIMARY KEY (org, layer, project, entry_id)
) WITHOUT ROWID;

INSERT INTO patterns (
    org, layer, project, entry_id, reader, expires_at, weight, uses, used_at,
    language, file, folder, ending, code_file, code_folder, code_ending
  )
  SELECT * FROM pattern_rows;

CREATE TRIGGER patterns_stored AFTER INSERT ON entries
  WHEN NEW.kind IN ('pattern', 'procedure', 'template', 'tool', 'code_pattern', 'rule', 'guide', 'convention')
BEGIN
  INSERT INTO patterns (
      org, layer, project, entry_id, reader, expires_at, weight, uses, used_at,
      language, file, folder, ending, code_file, code_folder, code_ending
    )
    SELECT * FROM pattern_rows WHERE entry_id = NEW.id;
END;

CREATE TRIGGER patterns_changed AFTER UPDATE OF
    metadata, named_kind, tag_kind, work_item, source, layer, project, audience, owner, diary, archived,
    given_weight, named_weight, named_expires_at, layer_expires_at
  ON entries
  WHEN OLD.kind IN ('pattern', 'procedure', 'template', 'tool', 'code_pattern', 'rule', 'guide', 'convention')
    OR NEW.kind IN ('pattern', 'procedure', 'template', 'tool', 'code_pattern', 'rule', 'guide', 'convention')
BEGIN
  DELETE FROM patterns
    WHERE org = OLD.org AND layer = OLD.layer AND project = coalesce(OLD.project, '') AND entry_id = OLD.id;
  INSERT INTO patterns (
      org, layer, project, entry_id, reader, expires_at, weight, uses, used_at,
      language, file, folder, ending, code_file, code_folder, code_ending
    )
    SELECT * FROM pattern_rows WHERE entry_id = NEW.id;
END;

CREATE TRIGGER patterns_used AFTER UPDATE OF accessed_at, access_count ON entries
  WHEN NEW.kind IN ('pattern', 'procedure', 'template', 'tool', 'code_pattern', 'rule', 'guide', 'convention')
BEGIN
  UPDATE patterns SET uses = NEW.access_count, used_at = coalesce(NEW.accessed_at, NEW.created_at)
    WHERE org = NEW.org AND layer = NEW.layer AND project = coalesce(NEW.project, '') AND entry_id = NEW.id;
END;

CREATE TRIGGER patterns_deleted AFTER DELETE ON entries
  WHEN OLD.kind IN ('pattern', 'procedure', 'template', 'tool', 'code_pattern', 'rule', 'guide', 'convention')
BEGIN
  DELETE FROM patterns
    WHERE org = OLD.org AND layer = OLD.layer AND project = coalesce(OLD.project, '') AND entry_id = OLD.id;
END;

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

-- Tags with the place of their entry.
DROP TRIGGER entries_stored;

DROP TRIGGER entries_retagged;

DROP TRIGGER entries_deleted;

CREATE TABLE placed_tags (
  org TEXT NOT NULL,
  tag TEXT NOT NULL,
  layer INTEGER NOT NULL,
  project TEXT NOT NULL, -- '' for none
  entry_id INTEGER NOT NULL,
  PRIMARY KEY (org, tag, layer, project, entry_id)
) WITHOUT ROWID;

INSERT INTO placed_tags (org, tag, layer, project, entry_id)
  SELECT t.org, t.tag, e.layer, coalesce(e.project, ''), t.entry_id FROM entry_tags t CROSS JOIN entries e ON e.id = t.entry_id;

DROP TABLE entry_tags;

ALTER TABLE placed_tags RENAME TO entry_tags;

CREATE INDEX entry_tags_by_entry ON entry_tags (entry_id);

CREATE TRIGGER entries_stored AFTER INSERT ON entries
BEGIN
  INSERT INTO entry_tags (org, tag, layer, project, entry_id)
    SELECT NEW.org, value, NEW.layer, coalesce(NEW.project, ''), NEW.id FROM json_each(NEW.tags);
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

CREATE TRIGGER entries_retagged AFTER UPDATE OF tags, layer, project ON entries
  WHEN OLD.tags IS NOT NEW.tags OR OLD.layer IS NOT NEW.layer OR OLD.project IS NOT NEW.project
BEGIN
  DELETE FROM entry_tags WHERE entry_id = NEW.id;
  INSERT INTO entry_tags (org, tag, layer, project, entry_id)
    SELECT NEW.org, value, NEW.layer, coalesce(NEW.project, ''), NEW.id FROM json_each(NEW.tags);
END;

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
