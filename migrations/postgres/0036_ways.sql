-- Which index leads to rows must not depend on what a planner knows of the tables (src/README.md, "No plan needs statistics"). The
-- twin of D1's file of this name.

-- An entry belongs to one org: what links to it is found by its id alone.
DROP INDEX links_by_target;

CREATE INDEX links_by_target ON links (to_id, org, relation);

-- So are its changes. Those of an org, in the order of commits, have the one index that begins with the org.
DROP INDEX changes_by_entry;

CREATE INDEX changes_by_entry ON changes (entry_id, org);

-- Vectors that are compared one by one are those of the org, and only its index leads there. The model is checked beside it (`IS TRUE`
-- goes by no index): it is the second column of the unique key, by which a planner that knows one org only would read the vectors of all.
CREATE OR REPLACE FUNCTION nearest_apart(of_org text, of_model text, query text, wanted integer)
RETURNS TABLE (id bigint, cosine double precision) LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
  SELECT near.id, 1 - near.distance FROM (
    SELECT v.id, coalesce(nullif(v.embedding <=> (SELECT embedding_of(query)), 'NaN'), 1) AS distance
    FROM entry_vectors v WHERE v.org = of_org AND (v.model = of_model) IS TRUE AND NOT v.crowded
  ) AS near ORDER BY near.distance, near.id LIMIT wanted
$$;

CREATE OR REPLACE FUNCTION nearest_exact(of_org text, of_model text, query text, wanted integer)
RETURNS TABLE (id bigint, cosine double precision) LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
  SELECT near.id, 1 - near.distance FROM (
    SELECT v.id, coalesce(nullif(v.embedding <=> (SELECT embedding_of(query)), 'NaN'), 1) AS distance
    FROM entry_vectors v WHERE v.org = of_org AND (v.model = of_model) IS TRUE
  ) AS near ORDER BY near.distance, near.id LIMIT wanted
$$;

-- As in 0031, with model and layer beside the org: all rows with a layer stand in an index, of whichever org.
CREATE OR REPLACE FUNCTION nearest_entries(
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
        WHERE v.org = of_org AND (v.model = of_model) IS TRUE AND (v.layer = of_layer) IS TRUE
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

-- As in 0026; the first and the last of a thread in the order of the index that has its threads.
CREATE OR REPLACE FUNCTION count_out(entry entries) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  of_project text COLLATE "C" := coalesce(entry.project, '');
BEGIN
  UPDATE thread_counters c SET
      entries = c.entries - 1, user_entries = c.user_entries - (entry.source = 'user')::int,
      multimodal = c.multimodal - (entry.image_count > 0)::int, bytes = c.bytes - entry.bytes, words = c.words - entry.text_words,
      first_second = CASE WHEN entry.created_second <> c.first_second OR c.entries = 1 THEN c.first_second ELSE coalesce((
          SELECT e.created_second FROM entries e
          WHERE e.listed = 1 AND e.org = entry.org AND e.thread_id BETWEEN entry.thread_id AND entry.thread_id
            AND coalesce(e.project, '') = of_project AND e.reader = entry.reader
          ORDER BY e.thread_id DESC, e.created_second LIMIT 1
        ), c.first_second) END,
      last_second = CASE WHEN entry.created_second <> c.last_second OR c.entries = 1 THEN c.last_second ELSE coalesce((
          SELECT e.created_second FROM entries e
          WHERE e.listed = 1 AND e.org = entry.org AND e.thread_id BETWEEN entry.thread_id AND entry.thread_id
            AND coalesce(e.project, '') = of_project AND e.reader = entry.reader
          ORDER BY e.thread_id, e.created_second DESC LIMIT 1
        ), c.last_second) END,
      first_id = CASE WHEN entry.id <> c.first_id OR c.entries = 1 THEN c.first_id ELSE coalesce((
          SELECT e.id FROM entries e
          WHERE e.listed = 1 AND e.org = entry.org AND e.thread_id BETWEEN entry.thread_id AND entry.thread_id
            AND coalesce(e.project, '') = of_project AND e.reader = entry.reader
          ORDER BY e.thread_id, e.id LIMIT 1
        ), c.first_id) END,
      last_id = CASE WHEN entry.id <> c.last_id OR c.entries = 1 THEN c.last_id ELSE coalesce((
          SELECT e.id FROM entries e
          WHERE e.listed = 1 AND e.org = entry.org AND e.thread_id BETWEEN entry.thread_id AND entry.thread_id
            AND coalesce(e.project, '') = of_project AND e.reader = entry.reader
          ORDER BY e.thread_id DESC, e.id DESC LIMIT 1
        ), c.last_id) END
    WHERE c.org = entry.org AND c.thread_id = entry.thread_id AND c.project = of_project AND c.reader = entry.reader;
  DELETE FROM thread_counters c
    WHERE c.org = entry.org AND c.thread_id = entry.thread_id AND c.project = of_project AND c.reader = entry.reader AND c.entries = 0;
END $$;
