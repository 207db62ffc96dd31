-- Vectors know where their entry stands, so that what is near in one project is found without looking at the others.

-- NULL where no list shows the entry.
ALTER TABLE entry_vectors ADD COLUMN layer integer;

-- Empty for none.
ALTER TABLE entry_vectors ADD COLUMN project text COLLATE "C";

ALTER TABLE entry_vectors ADD COLUMN reader text COLLATE "C";

UPDATE entry_vectors v SET layer = CASE WHEN e.listed = 1 THEN e.layer END, project = coalesce(e.project, ''), reader = e.reader
  FROM entries e WHERE e.id = v.entry_id;

-- Where a search looks. One value, so that no other index can lead to its rows, whatever the planner knows; layer 3 belongs to all
-- projects.
CREATE FUNCTION vector_place(org text, model text, layer integer, project text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT (layer::text || CASE WHEN layer = 3 THEN '' ELSE ' ' || project END || E'\n' || model || E'\n' || org) COLLATE "C"
$$;

CREATE INDEX entry_vectors_by_place ON entry_vectors (vector_place(org, model, layer, project)) WHERE layer IS NOT NULL;

-- Whoever adds a vector need not say where it stands.
CREATE OR REPLACE FUNCTION place_vector() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  NEW.crowded := coalesce((SELECT vectors FROM vector_spaces WHERE org = NEW.org AND model = NEW.model), 0) >= compared_one_by_one();
  IF NEW.project IS NULL THEN
    SELECT CASE WHEN e.listed = 1 THEN e.layer END, coalesce(e.project, ''), e.reader INTO NEW.layer, NEW.project, NEW.reader
      FROM entries e WHERE e.id = NEW.entry_id;
  END IF;
  RETURN NEW;
END $$;

-- An entry that moves gets new rows, as one whose text changes, so that indexes hear of it in the same way. They come and go under
-- numbers of no entry, because whoever counts vectors by their entries has to see one set of them at any moment.
CREATE FUNCTION resettle_vectors() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
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

CREATE TRIGGER vectors_resettled AFTER UPDATE OF layer, project, audience, owner, diary, archived ON entries FOR EACH ROW
  WHEN ((OLD.listed, OLD.layer, OLD.project, OLD.reader) IS DISTINCT FROM (NEW.listed, NEW.layer, NEW.project, NEW.reader))
  EXECUTE FUNCTION resettle_vectors();

-- The nearest entries of one layer, each by its nearest vector: those of a project (of every one for NULL, and always in layer 3) that the
-- owner may read, in these projects (in every one for NULL). Compared one by one; where there are more than `few`, found among the nearest
-- `few` / 10 vectors of the org. Several vectors may belong to one entry, so more are taken until there are enough.
CREATE FUNCTION nearest_entries(
  of_org text, of_model text, query text, of_layer integer, of_project text, of_owner text, of_projects text[],
  nearer_than double precision, wanted integer, few integer
) RETURNS TABLE (entry_id bigint, cosine double precision) LANGUAGE plpgsql STABLE SET search_path FROM CURRENT AS $$
DECLARE
  place text := vector_place(of_org, of_model, of_layer, of_project);
  taken integer := wanted * 2;
  found integer;
  entries bigint[];
  cosines double precision[];
BEGIN
  SELECT s.vectors INTO found FROM vector_spaces s WHERE s.org = of_org AND s.model = of_model;
  IF found > few AND place IS NOT NULL THEN
    SELECT count(*) INTO found FROM (
      SELECT 1 FROM entry_vectors v WHERE vector_place(v.org, v.model, v.layer, v.project) = place AND v.layer IS NOT NULL LIMIT few + 1
    ) AS here;
  END IF;
  LOOP
    IF found > few THEN
      SELECT array_agg(near.entry_id), array_agg(near.cosine) INTO entries, cosines FROM (
        SELECT v.entry_id, n.cosine
        FROM nearest_vectors(of_org, of_model, query, few / 10, few) AS n CROSS JOIN LATERAL (
          SELECT * FROM entry_vectors v WHERE v.id = n.id OFFSET 0
        ) AS v
        WHERE v.layer = of_layer AND (of_layer = 3 OR of_project IS NULL OR v.project = of_project)
          AND (v.reader = '' OR v.reader = of_owner) AND (of_projects IS NULL OR v.project = '' OR v.project = ANY (of_projects))
      ) AS near;
      taken := NULL;
    ELSIF place IS NULL THEN
      SELECT array_agg(near.entry_id), array_agg(near.cosine) INTO entries, cosines FROM (
        SELECT v.entry_id, 1 - coalesce(nullif(v.embedding <=> (SELECT embedding_of(query)), 'NaN'), 1) AS cosine
        FROM entry_vectors v
        WHERE v.org = of_org AND v.model = of_model AND v.layer = of_layer
          AND (v.reader = '' OR v.reader = of_owner) AND (of_projects IS NULL OR v.project = '' OR v.project = ANY (of_projects))
        ORDER BY 2 DESC, v.entry_id DESC LIMIT taken
      ) AS near;
    ELSE
      SELECT array_agg(near.entry_id), array_agg(near.cosine) INTO entries, cosines FROM (
        SELECT v.entry_id, 1 - coalesce(nullif(v.embedding <=> (SELECT embedding_of(query)), 'NaN'), 1) AS cosine
        FROM entry_vectors v
        WHERE vector_place(v.org, v.model, v.layer, v.project) = place AND v.layer IS NOT NULL
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
