-- How many entries of each sort a layer holds, so that totals and statistics of memories cost the same in a store of any size; and tags
-- with what a list asks of their entries, so that a list by tags reads no other row.

-- Each listed entry without an end is counted in one row. Those with an end leave by themselves, so they are counted when asked for.
CREATE TABLE layer_counters (
  org text COLLATE "C" NOT NULL,
  layer integer NOT NULL,
  project text COLLATE "C" NOT NULL, -- '' for none
  reader text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  pinned integer NOT NULL,
  entries bigint NOT NULL,
  words bigint NOT NULL,
  first_id bigint NOT NULL, -- between which ids they stand, or stood
  last_id bigint NOT NULL,
  PRIMARY KEY (org, layer, project, reader, kind, pinned)
);

INSERT INTO layer_counters (org, layer, project, reader, kind, pinned, entries, words, first_id, last_id)
  SELECT org, layer, coalesce(project, '') AS place, reader, kind, pinned, count(*), sum(text_words), min(id), max(id)
  FROM entries WHERE listed = 1 AND expires_at IS NULL GROUP BY org, layer, place, reader, kind, pinned;

CREATE INDEX entries_ending ON entries (org, layer, project, expires_at) INCLUDE (reader, kind, pinned, text_words)
  WHERE listed = 1 AND expires_at IS NOT NULL;

CREATE FUNCTION is_counted(entry entries) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT entry.listed = 1 AND entry.expires_at IS NULL
$$;

CREATE FUNCTION keep_layers() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    IF is_counted(OLD) THEN
      UPDATE layer_counters c SET entries = c.entries - 1, words = c.words - OLD.text_words
        WHERE c.org = OLD.org AND c.layer = OLD.layer AND c.project = coalesce(OLD.project, '') AND c.reader = OLD.reader
          AND c.kind = OLD.kind AND c.pinned = OLD.pinned;
      DELETE FROM layer_counters c
        WHERE c.org = OLD.org AND c.layer = OLD.layer AND c.project = coalesce(OLD.project, '') AND c.reader = OLD.reader
          AND c.kind = OLD.kind AND c.pinned = OLD.pinned AND c.entries = 0;
    END IF;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    IF is_counted(NEW) THEN
      INSERT INTO layer_counters AS c (org, layer, project, reader, kind, pinned, entries, words, first_id, last_id)
        VALUES (NEW.org, NEW.layer, coalesce(NEW.project, ''), NEW.reader, NEW.kind, NEW.pinned, 1, NEW.text_words, NEW.id, NEW.id)
        ON CONFLICT ON CONSTRAINT layer_counters_pkey DO UPDATE SET
          entries = c.entries + 1, words = c.words + excluded.words,
          first_id = least(c.first_id, excluded.first_id), last_id = greatest(c.last_id, excluded.last_id);
    END IF;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER layers_gain AFTER INSERT ON entries FOR EACH ROW WHEN (NEW.listed = 1) EXECUTE FUNCTION keep_layers();

CREATE TRIGGER layers_moved AFTER UPDATE OF
    layer, project, audience, owner, diary, archived, named_kind, tag_kind, work_item, source, given_pinned, named_pinned,
    named_expires_at, layer_expires_at, text_words
  ON entries FOR EACH ROW
  WHEN ((NEW.listed, NEW.expires_at, NEW.layer, NEW.project, NEW.reader, NEW.kind, NEW.pinned, NEW.text_words)
    IS DISTINCT FROM (OLD.listed, OLD.expires_at, OLD.layer, OLD.project, OLD.reader, OLD.kind, OLD.pinned, OLD.text_words))
  EXECUTE FUNCTION keep_layers();

-- What one statement deletes leaves each row of counters at once: hundreds of versions of one row would each be gone through.
CREATE FUNCTION keep_layers_left() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
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

CREATE TRIGGER layers_loss AFTER DELETE ON entries REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION keep_layers_left();

-- The newest of each kind in a layer.
CREATE INDEX entries_of_kind ON entries (org, project, layer, kind, created_at DESC, id DESC) INCLUDE (expires_at, reader) WHERE listed = 1;

CREATE INDEX entries_by_kind ON entries (org, kind, created_at DESC, id DESC) INCLUDE (expires_at, reader, project)
  WHERE listed = 1 AND layer = 3;

-- Tags with what a list asks of their entries.
ALTER TABLE entry_tags
  ADD COLUMN created_at bigint NOT NULL DEFAULT 0,
  ADD COLUMN kind text COLLATE "C" NOT NULL DEFAULT '',
  ADD COLUMN reader text COLLATE "C" NOT NULL DEFAULT '',
  ADD COLUMN expires_at bigint,
  ADD COLUMN listed integer NOT NULL DEFAULT 0;

UPDATE entry_tags t SET created_at = e.created_at, kind = e.kind, reader = e.reader, expires_at = e.expires_at, listed = e.listed
  FROM entries e WHERE e.id = t.entry_id;

ALTER TABLE entry_tags DROP CONSTRAINT entry_tags_pkey;

ALTER TABLE entry_tags ADD PRIMARY KEY (org, tag, layer, project, entry_id) INCLUDE (created_at, kind, reader, expires_at, listed);

CREATE OR REPLACE FUNCTION tag_entry(entry entries) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO entry_tags (org, tag, layer, project, entry_id, created_at, kind, reader, expires_at, listed)
    SELECT entry.org, given.value, entry.layer, coalesce(entry.project, ''), entry.id, entry.created_at, entry.kind, entry.reader,
      entry.expires_at, entry.listed
    FROM jsonb_array_elements_text(entry.tags::jsonb) AS given (value);
END $$;

DROP TRIGGER entries_retagged ON entries;

CREATE TRIGGER entries_retagged AFTER UPDATE OF
    tags, layer, project, audience, owner, diary, archived, named_kind, tag_kind, work_item, source, named_expires_at, layer_expires_at
  ON entries FOR EACH ROW
  WHEN ((NEW.tags, NEW.layer, NEW.project, NEW.kind, NEW.reader, NEW.expires_at, NEW.listed)
    IS DISTINCT FROM (OLD.tags, OLD.layer, OLD.project, OLD.kind, OLD.reader, OLD.expires_at, OLD.listed))
  EXECUTE FUNCTION keep_retagged();
