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
  weight integer NOT NULL,
  uses integer NOT NULL,
  used_at bigint NOT NULL, -- the last access, else the creation
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
  SELECT e.org, e.layer, coalesce(e.project, '') AS project, e.id AS entry_id, e.reader, e.expires_at, e.weight,
    e.access_count AS uses, coalesce(e.accessed_at, e.created_at) AS used_at,
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
        org, layer, project, entry_id, reader, expires_at, weight, uses, used_at,
        language, file, folder, ending, code_file, code_folder, code_ending
      )
      SELECT * FROM pattern_rows WHERE entry_id = NEW.id;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER patterns_stored AFTER INSERT ON entries FOR EACH ROW WHEN (is_pattern(NEW.kind)) EXECUTE FUNCTION keep_pattern();

CREATE TRIGGER patterns_changed AFTER UPDATE OF
    metadata, named_kind, tag_kind, work_item, source, layer, project, audience, owner, diary, archived,
    given_weight, named_weight, named_expires_at, layer_expires_at
  ON entries FOR EACH ROW WHEN (is_pattern(OLD.kind) OR is_pattern(NEW.kind)) EXECUTE FUNCTION keep_pattern();

CREATE TRIGGER patterns_deleted AFTER DELETE ON entries FOR EACH ROW WHEN (is_pattern(OLD.kind)) EXECUTE FUNCTION keep_pattern();

CREATE FUNCTION keep_pattern_use() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE patterns SET uses = NEW.access_count, used_at = coalesce(NEW.accessed_at, NEW.created_at)
    WHERE org = NEW.org AND layer = NEW.layer AND project = coalesce(NEW.project, '') AND entry_id = NEW.id;
  RETURN NULL;
END $$;

CREATE TRIGGER patterns_used AFTER UPDATE OF accessed_at, access_count ON entries FOR EACH ROW
  WHEN (is_pattern(NEW.kind)) EXECUTE FUNCTION keep_pattern_use();

-- The patterns that stand first at a moment, without a look at the others. A row for each place of a pattern: '' for all of them, and
-- the endings ('e'), folders ('d') and names ('f') of its files. Of the patterns of one place, reader, weight and language, the first
-- are among those that were used last, where each of ten uses counts as two days more, or among those with the most uses
-- (docs/contracts/fabric.md, §5: a use is worth 0.02, ten at most; a day 0.01, twenty at most). Places and languages are cut where an
-- index could not hold them, at lengths that nothing which is looked for has.
CREATE TABLE pattern_places (
  org text COLLATE "C" NOT NULL,
  layer integer NOT NULL,
  project text COLLATE "C" NOT NULL, -- '' for none, and in layer 3, which belongs to all projects
  place text COLLATE "C" NOT NULL,
  reader text COLLATE "C" NOT NULL,
  sort text COLLATE "C" NOT NULL, -- weight and language
  lately bigint NOT NULL,
  entry_id bigint NOT NULL,
  uses integer NOT NULL, -- 1 to 10
  expires_at bigint,
  PRIMARY KEY (org, layer, project, place, reader, sort, lately, entry_id)
);

CREATE INDEX pattern_places_by_use ON pattern_places (org, layer, project, place, reader, sort, uses, entry_id);

-- What should stand there for a row of patterns.
CREATE FUNCTION places_of(pattern patterns) RETURNS SETOF pattern_places LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
  SELECT DISTINCT pattern.org, pattern.layer, CASE WHEN pattern.layer = 3 THEN '' ELSE pattern.project END,
    substr(at.place, 1, 101), pattern.reader,
    (pattern.weight || ' ' || substr(pattern.language, 1, 41)) COLLATE "C",
    pattern.used_at + 172800000 * least(10, greatest(1, pattern.uses)),
    pattern.entry_id, least(10, greatest(1, pattern.uses)), pattern.expires_at
  FROM unnest(ARRAY[
      '', 'e' || pattern.ending, 'e' || pattern.code_ending, 'd' || pattern.folder, 'd' || pattern.code_folder,
      'f' || pattern.file, 'f' || pattern.code_file
    ]) AS at (place)
  WHERE at.place IS NOT NULL
$$;

CREATE FUNCTION keep_pattern_places() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    DELETE FROM pattern_places
      WHERE org = OLD.org AND layer = OLD.layer AND project = CASE WHEN OLD.layer = 3 THEN '' ELSE OLD.project END
        AND place = ANY (ARRAY(SELECT at.place FROM places_of(OLD) AS at))
        AND reader = OLD.reader AND sort = OLD.weight || ' ' || substr(OLD.language, 1, 41)
        AND lately = OLD.used_at + 172800000 * least(10, greatest(1, OLD.uses)) AND entry_id = OLD.entry_id;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO pattern_places SELECT * FROM places_of(NEW);
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER pattern_places_stored AFTER INSERT OR DELETE ON patterns FOR EACH ROW EXECUTE FUNCTION keep_pattern_places();

CREATE TRIGGER pattern_places_used AFTER UPDATE ON patterns FOR EACH ROW EXECUTE FUNCTION keep_pattern_places();
