-- What is near in a crowded org: looked for where it is wanted, instead of among the nearest thousand of the whole org for each layer; and
-- no ten thousand vectors are compared one by one beside the index for ever.

-- The nearest vectors that are in the index, of one layer: those of a project (of every one for NULL, and always in layer 3) that the owner
-- may read, in these projects (in every one for NULL). At most 20,000 vectors are gone through, those of other orgs among them: where these
-- hold fewer than are wanted, what is farther is not found. No other index may lead there (`IS TRUE` goes by none).
CREATE FUNCTION nearest_in_index(
  of_org text, of_model text, query text, of_layer integer, of_project text, of_owner text, of_projects text[], wanted integer
) RETURNS TABLE (entry_id bigint, cosine double precision) LANGUAGE plpgsql STABLE
  SET search_path FROM CURRENT SET hnsw.iterative_scan = 'relaxed_order' SET hnsw.ef_search = 100 SET hnsw.max_scan_tuples = 20000 AS $$
DECLARE
  size integer := split_part(of_model, '#', -1)::integer;
BEGIN
  RETURN QUERY EXECUTE format(
    'SELECT v.entry_id, 1 - (v.embedding::halfvec(%1$s) <=> $3::halfvec(%1$s)) FROM entry_vectors v WHERE v.dimensions = %1$s AND v.crowded AND (v.org = $1) IS TRUE AND (v.model = $2) IS TRUE AND (v.layer = $4) IS TRUE AND ($4 = 3 OR $5 IS NULL OR v.project = $5) AND (v.reader = '''' OR v.reader = $6) AND ($7 IS NULL OR v.project = '''' OR v.project = ANY ($7)) ORDER BY v.embedding::halfvec(%1$s) <=> $3::halfvec(%1$s) LIMIT $8', size)
    USING of_org, of_model, embedding_of(query), of_layer, of_project, of_owner, of_projects, wanted;
END $$;

-- The same of those that are in no index, compared one by one. Only the index of the org leads there.
CREATE FUNCTION nearest_beside_index(
  of_org text, of_model text, query text, of_layer integer, of_project text, of_owner text, of_projects text[], wanted integer
) RETURNS TABLE (entry_id bigint, cosine double precision) LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
  SELECT v.entry_id, 1 - coalesce(nullif(v.embedding <=> (SELECT embedding_of(query)), 'NaN'), 1)
  FROM entry_vectors v
  WHERE v.org = of_org AND (v.model = of_model) IS TRUE AND NOT v.crowded AND (v.layer = of_layer) IS TRUE
    AND (of_layer = 3 OR of_project IS NULL OR v.project = of_project)
    AND (v.reader = '' OR v.reader = of_owner) AND (of_projects IS NULL OR v.project = '' OR v.project = ANY (of_projects))
  ORDER BY 2 DESC, v.entry_id DESC LIMIT wanted
$$;

-- The nearest entries of one layer, each by its nearest vector, as 0005_vectors.sql has them. Compared one by one; where there are more than
-- `few`, found by the index. Several vectors may belong to one entry, so more are taken until there are enough.
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
        SELECT * FROM nearest_in_index(of_org, of_model, query, of_layer, of_project, of_owner, of_projects, taken)
        UNION ALL
        SELECT * FROM nearest_beside_index(of_org, of_model, query, of_layer, of_project, of_owner, of_projects, taken)
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

-- Once an org has more vectors than are compared one by one, each that is added takes one of the first into the index with it. They are
-- looked for by the index of the org alone.
CREATE FUNCTION take_into_index() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  added record;
BEGIN
  FOR added IN SELECT m.org, m.model, count(*) AS vectors FROM moved m WHERE m.crowded GROUP BY m.org, m.model LOOP
    UPDATE entry_vectors SET crowded = true WHERE id = ANY (ARRAY(
      SELECT v.id FROM entry_vectors v WHERE v.org = added.org AND (v.model = added.model) IS TRUE AND NOT v.crowded LIMIT added.vectors
    ));
  END LOOP;
  RETURN NULL;
END $$;

CREATE TRIGGER vectors_crowding AFTER INSERT ON entry_vectors REFERENCING NEW TABLE AS moved
  FOR EACH STATEMENT EXECUTE FUNCTION take_into_index();
