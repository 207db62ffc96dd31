-- What searches by words go by, and what a call for the present moment looks through.

-- The index holds terms, no copy of the text: words arrive folded, cut and, where the code knows the language, stemmed
-- (src/domain/search/analysis.ts), so no parser of this database ever sees them. A language that only the database can stem goes
-- through its Snowball dictionary, word by word.
CREATE TABLE entries_fts (
  entry_id bigint PRIMARY KEY,
  words tsvector NOT NULL,
  -- The terms of text, date and agent, title and code in order: neighbours are looked up here, because a tsvector forgets positions
  -- beyond 16,383.
  body text COLLATE "C" NOT NULL,
  context text COLLATE "C" NOT NULL,
  length integer NOT NULL DEFAULT 0, -- content words of the text, by which candidates are chosen without a look at the entry
  title text COLLATE "C" NOT NULL DEFAULT '',
  code text COLLATE "C" NOT NULL DEFAULT '',
  written text COLLATE "C" -- words of text, date and agent in order as they are written; NULL where no words are stemmed
);

COMMENT ON COLUMN entries_fts.words IS
  'stems of body and context, weight A where the stem is itself a word of them; /scope, =word unlike its stem, ^title, #code';

CREATE INDEX entries_fts_by_word ON entries_fts USING gin (words) WITH (fastupdate = off);

CREATE FUNCTION keep_unindexed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM entries_fts WHERE entry_id = OLD.id;
  RETURN NULL;
END $$;

CREATE TRIGGER entries_unindexed AFTER DELETE ON entries FOR EACH ROW EXECUTE FUNCTION keep_unindexed();

-- Patterns in narrow rows, with their languages and files. A path of more than 1,024 characters counts as none: to cut it into folder
-- and name takes the square of its length on D1. Which kinds are patterns stands in domain/recall/current.ts.
CREATE TABLE patterns (
  org text COLLATE "C" NOT NULL,
  layer integer NOT NULL,
  project text COLLATE "C" NOT NULL, -- '' for none
  entry_id bigint NOT NULL,
  reader text COLLATE "C" NOT NULL,
  expires_at bigint,
  language text COLLATE "C" NOT NULL, -- in lower case, the first 100 characters
  file text COLLATE "C",
  folder text COLLATE "C", -- up to and with the last / or \
  ending text COLLATE "C", -- without its dot, in lower case
  code_file text COLLATE "C",
  code_folder text COLLATE "C",
  code_ending text COLLATE "C",
  PRIMARY KEY (org, layer, project, entry_id)
);

CREATE INDEX patterns_by_entry ON patterns (entry_id);

CREATE FUNCTION is_pattern(kind text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT kind IN ('pattern', 'procedure', 'template', 'tool', 'code_pattern', 'rule', 'guide', 'convention')
$$;

CREATE FUNCTION string_at(facts jsonb, member text, name text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN jsonb_typeof(facts -> member -> name) = 'string' THEN (facts -> member ->> name) COLLATE "C" END
$$;

CREATE FUNCTION folder_of(path text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN path IS NOT NULL THEN coalesce(substring(path FROM '^.*[/\\]'), '') END
$$;

CREATE FUNCTION ending_of(path text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT lower(substring(path FROM '\.([^./\\]*)$') COLLATE "C")
$$;

-- What should stand there.
CREATE VIEW pattern_rows AS
  SELECT e.org, e.layer, coalesce(e.project, '') AS project, e.id AS entry_id, e.reader, e.expires_at,
    lower(substr(
      coalesce(string_at(e.facts, 'codeBlock', 'language'), string_at(e.facts, 'fileContext', 'language'), 'text') COLLATE "C", 1, 100
    )) AS language,
    file.path AS file, folder_of(file.path) AS folder, ending_of(file.path) AS ending,
    code.path AS code_file, folder_of(code.path) AS code_folder, ending_of(code.path) AS code_ending
  FROM entries e
    CROSS JOIN LATERAL (
      SELECT CASE WHEN length(at.path) <= 1024 THEN at.path END AS path
        FROM (SELECT string_at(e.facts, 'fileContext', 'path') AS path) AS at
    ) AS file
    CROSS JOIN LATERAL (
      SELECT CASE WHEN length(at.path) <= 1024 THEN at.path END AS path
        FROM (SELECT string_at(e.facts, 'codeBlock', 'filePath') AS path) AS at
    ) AS code
  WHERE e.listed = 1 AND e.layer IN (2, 3) AND is_pattern(e.kind);

CREATE FUNCTION keep_pattern() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
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

CREATE TRIGGER patterns_stored AFTER INSERT ON entries FOR EACH ROW WHEN (is_pattern(NEW.kind)) EXECUTE FUNCTION keep_pattern();

CREATE TRIGGER patterns_changed AFTER UPDATE OF
    metadata, named_kind, tag_kind, work_item, source, layer, project, audience, owner, diary, archived,
    named_expires_at, layer_expires_at
  ON entries FOR EACH ROW WHEN (is_pattern(OLD.kind) OR is_pattern(NEW.kind)) EXECUTE FUNCTION keep_pattern();

CREATE TRIGGER patterns_deleted AFTER DELETE ON entries FOR EACH ROW WHEN (is_pattern(OLD.kind)) EXECUTE FUNCTION keep_pattern();

