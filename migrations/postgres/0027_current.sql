-- What a call for the present moment looks through, in a few narrow rows: patterns with their languages and files, and what belongs to
-- the whole org by its file. And where the entries of a tag are, so that other projects cost a list by tags nothing.

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

-- A path of more than 1,024 characters counts as none, as in D1. Which kinds are patterns stands in domain/recall/current.ts.
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
      SELECT CASE WHEN length(at.path) <= 1024 THEN at.path END AS path FROM (SELECT string_at(e.facts, 'fileContext', 'path') AS path) AS at
    ) AS file
    CROSS JOIN LATERAL (
      SELECT CASE WHEN length(at.path) <= 1024 THEN at.path END AS path FROM (SELECT string_at(e.facts, 'codeBlock', 'filePath') AS path) AS at
    ) AS code
  WHERE e.listed = 1 AND e.layer IN (2, 3) AND is_pattern(e.kind);

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

INSERT INTO patterns (
    org, layer, project, entry_id, reader, expires_at, weight, uses, used_at,
    language, file, folder, ending, code_file, code_folder, code_ending
  )
  SELECT * FROM pattern_rows;

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

-- What belongs to the whole org, by the two places that name its file. Their beginnings lead near enough.
CREATE INDEX entries_by_file ON entries (
    org,
    substr(
      CASE WHEN jsonb_typeof(facts -> 'fileContext' -> 'path') = 'string' THEN (facts -> 'fileContext' ->> 'path') COLLATE "C" END, 1, 256
    )
  )
  WHERE listed = 1 AND layer = 3;

CREATE INDEX entries_by_code_file ON entries (
    org,
    substr(
      CASE WHEN jsonb_typeof(facts -> 'codeBlock' -> 'filePath') = 'string' THEN (facts -> 'codeBlock' ->> 'filePath') COLLATE "C" END, 1, 256
    )
  )
  WHERE listed = 1 AND layer = 3;

-- Tags with the place of their entry.
ALTER TABLE entry_tags ADD COLUMN layer integer;

ALTER TABLE entry_tags ADD COLUMN project text COLLATE "C"; -- '' for none

UPDATE entry_tags t SET layer = e.layer, project = coalesce(e.project, '') FROM entries e WHERE e.id = t.entry_id;

DELETE FROM entry_tags WHERE layer IS NULL;

ALTER TABLE entry_tags ALTER COLUMN layer SET NOT NULL, ALTER COLUMN project SET NOT NULL;

ALTER TABLE entry_tags DROP CONSTRAINT entry_tags_pkey;

ALTER TABLE entry_tags ADD PRIMARY KEY (org, tag, layer, project, entry_id);

CREATE OR REPLACE FUNCTION tag_entry(entry entries) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO entry_tags (org, tag, layer, project, entry_id)
    SELECT entry.org, given.value, entry.layer, coalesce(entry.project, ''), entry.id
    FROM jsonb_array_elements_text(entry.tags::jsonb) AS given (value);
END $$;

DROP TRIGGER entries_retagged ON entries;

CREATE TRIGGER entries_retagged AFTER UPDATE OF tags, layer, project ON entries FOR EACH ROW
  WHEN (OLD.tags IS DISTINCT FROM NEW.tags OR OLD.layer <> NEW.layer OR OLD.project IS DISTINCT FROM NEW.project)
  EXECUTE FUNCTION keep_retagged();
