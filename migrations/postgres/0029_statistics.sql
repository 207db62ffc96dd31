-- What get_statistics tells, counted as it is written, for each circle of readers: by project and reader. Only what lists show is
-- counted. (src/adapters/sql/statistics-statements.ts)

CREATE TABLE circle_counters (
  org text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL, -- '' for none
  reader text COLLATE "C" NOT NULL,
  entries bigint NOT NULL,
  user_entries bigint NOT NULL,
  multimodal bigint NOT NULL,
  bytes bigint NOT NULL,
  images bigint NOT NULL,
  summaries bigint NOT NULL,
  PRIMARY KEY (org, project, reader)
);

CREATE TABLE tag_counters (
  org text COLLATE "C" NOT NULL,
  tag text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL,
  reader text COLLATE "C" NOT NULL,
  uses bigint NOT NULL,
  PRIMARY KEY (org, tag, project, reader)
);

CREATE TABLE vector_counters (
  org text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL,
  reader text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  entries bigint NOT NULL, -- those with a first chunk
  vectors bigint NOT NULL,
  bytes bigint NOT NULL,
  PRIMARY KEY (org, project, reader, model)
);

INSERT INTO circle_counters (org, project, reader, entries, user_entries, multimodal, bytes, images, summaries)
  SELECT org, coalesce(project, ''), reader, count(*), count(*) FILTER (WHERE source = 'user'), count(*) FILTER (WHERE image_count > 0),
    sum(bytes), sum(image_count), count(*) FILTER (WHERE summary <> '')
  FROM entries WHERE listed = 1 GROUP BY org, coalesce(project, ''), reader;

INSERT INTO tag_counters (org, tag, project, reader, uses)
  SELECT org, tag, project, reader, count(*) FROM entry_tags WHERE listed = 1 GROUP BY org, tag, project, reader;

INSERT INTO vector_counters (org, project, reader, model, entries, vectors, bytes)
  SELECT e.org, coalesce(e.project, ''), e.reader, v.model, count(*) FILTER (WHERE v.chunk = 0), count(*), sum(octet_length(v.data))
  FROM entry_vectors v JOIN entries e ON e.id = v.entry_id
  WHERE e.listed = 1 GROUP BY e.org, coalesce(e.project, ''), e.reader, v.model;

-- An entry and its circle in or out of the counters.
CREATE FUNCTION count_circle(entry entries, sign integer) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF entry.listed <> 1 THEN RETURN; END IF;
  INSERT INTO circle_counters AS c (org, project, reader, entries, user_entries, multimodal, bytes, images, summaries)
    VALUES (
      entry.org, coalesce(entry.project, ''), entry.reader, sign, sign * (entry.source = 'user')::int, sign * (entry.image_count > 0)::int,
      sign * entry.bytes, sign * entry.image_count, sign * (entry.summary <> '')::int
    )
    ON CONFLICT ON CONSTRAINT circle_counters_pkey DO UPDATE SET
      entries = c.entries + excluded.entries, user_entries = c.user_entries + excluded.user_entries,
      multimodal = c.multimodal + excluded.multimodal, bytes = c.bytes + excluded.bytes, images = c.images + excluded.images,
      summaries = c.summaries + excluded.summaries;
  IF sign < 0 THEN
    DELETE FROM circle_counters c
      WHERE c.org = entry.org AND c.project = coalesce(entry.project, '') AND c.reader = entry.reader AND c.entries = 0;
  END IF;
END $$;

-- All vectors of an entry that is counted.
CREATE FUNCTION count_vectors(entry entries, sign integer) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF entry.listed <> 1 THEN RETURN; END IF;
  INSERT INTO vector_counters AS c (org, project, reader, model, entries, vectors, bytes)
    SELECT entry.org, coalesce(entry.project, ''), entry.reader, v.model, sign * count(*) FILTER (WHERE v.chunk = 0), sign * count(*),
      sign * sum(octet_length(v.data))
    FROM entry_vectors v WHERE v.entry_id = entry.id GROUP BY v.model
    ON CONFLICT ON CONSTRAINT vector_counters_pkey DO UPDATE SET
      entries = c.entries + excluded.entries, vectors = c.vectors + excluded.vectors, bytes = c.bytes + excluded.bytes;
END $$;

CREATE FUNCTION keep_circles() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN PERFORM count_circle(OLD, -1); END IF;
  IF TG_OP <> 'DELETE' THEN PERFORM count_circle(NEW, 1); END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER circles_gain AFTER INSERT ON entries FOR EACH ROW WHEN (NEW.listed = 1) EXECUTE FUNCTION keep_circles();

CREATE TRIGGER circles_loss AFTER DELETE ON entries FOR EACH ROW WHEN (OLD.listed = 1) EXECUTE FUNCTION keep_circles();

CREATE TRIGGER circles_changed AFTER UPDATE OF archived, diary, audience, owner, project, image_count, bytes, summary ON entries FOR EACH ROW
  WHEN (
    (OLD.listed, OLD.project, OLD.reader, OLD.image_count, OLD.bytes, OLD.summary <> '')
      IS DISTINCT FROM (NEW.listed, NEW.project, NEW.reader, NEW.image_count, NEW.bytes, NEW.summary <> '')
  )
  EXECUTE FUNCTION keep_circles();

CREATE FUNCTION keep_tag_counters() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  sign integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  INSERT INTO tag_counters AS c (org, tag, project, reader, uses)
    SELECT org, tag, project, reader, sign * count(*) FROM moved WHERE listed = 1
    GROUP BY org, tag, project, reader ORDER BY org, tag, project, reader
    ON CONFLICT ON CONSTRAINT tag_counters_pkey DO UPDATE SET uses = c.uses + excluded.uses;
  IF sign < 0 THEN
    DELETE FROM tag_counters c USING (SELECT DISTINCT org, tag, project, reader FROM moved WHERE listed = 1) AS gone
      WHERE c.org = gone.org AND c.tag = gone.tag AND c.project = gone.project AND c.reader = gone.reader AND c.uses = 0;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER tags_gain AFTER INSERT ON entry_tags REFERENCING NEW TABLE AS moved FOR EACH STATEMENT EXECUTE FUNCTION keep_tag_counters();

CREATE TRIGGER tags_loss AFTER DELETE ON entry_tags REFERENCING OLD TABLE AS moved FOR EACH STATEMENT EXECUTE FUNCTION keep_tag_counters();

-- Of an entry that goes, all vectors are counted out before it; each then finds no entry any more.
CREATE FUNCTION keep_vector_counters() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  sign integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  INSERT INTO vector_counters AS c (org, project, reader, model, entries, vectors, bytes)
    SELECT e.org, coalesce(e.project, ''), e.reader, m.model, sign * sum(m.entries), sign * sum(m.vectors), sign * sum(m.bytes)
    FROM (
      SELECT entry_id, model, count(*) FILTER (WHERE chunk = 0) AS entries, count(*) AS vectors, sum(octet_length(data)) AS bytes
      FROM moved GROUP BY entry_id, model
    ) AS m
      CROSS JOIN LATERAL (SELECT org, project, reader FROM entries WHERE id = m.entry_id AND listed = 1 OFFSET 0) AS e
    GROUP BY e.org, coalesce(e.project, ''), e.reader, m.model ORDER BY 1, 2, 3, 4
    ON CONFLICT ON CONSTRAINT vector_counters_pkey DO UPDATE SET
      entries = c.entries + excluded.entries, vectors = c.vectors + excluded.vectors, bytes = c.bytes + excluded.bytes;
  RETURN NULL;
END $$;

CREATE TRIGGER vectors_counted AFTER INSERT ON entry_vectors REFERENCING NEW TABLE AS moved FOR EACH STATEMENT EXECUTE FUNCTION keep_vector_counters();

CREATE TRIGGER vectors_uncounted AFTER DELETE ON entry_vectors REFERENCING OLD TABLE AS moved FOR EACH STATEMENT EXECUTE FUNCTION keep_vector_counters();

CREATE FUNCTION keep_vectors_leaving() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM count_vectors(OLD, -1);
  RETURN OLD;
END $$;

CREATE TRIGGER vectors_leaving BEFORE DELETE ON entries FOR EACH ROW WHEN (OLD.listed = 1) EXECUTE FUNCTION keep_vectors_leaving();

CREATE FUNCTION keep_vectors_moved() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM count_vectors(OLD, -1);
  PERFORM count_vectors(NEW, 1);
  RETURN NULL;
END $$;

CREATE TRIGGER vectors_moved AFTER UPDATE OF archived, diary, audience, owner, project ON entries FOR EACH ROW
  WHEN ((OLD.listed, OLD.project, OLD.reader) IS DISTINCT FROM (NEW.listed, NEW.project, NEW.reader))
  EXECUTE FUNCTION keep_vectors_moved();
