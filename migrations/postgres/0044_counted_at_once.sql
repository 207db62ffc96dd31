-- What one statement stores enters each row of counters once: a call restores a thousand entries of a thread at a time, and each would go
-- through the versions of the row that those before it have left. Writers of an org wait for each other, so the order of rows is free.

CREATE FUNCTION keep_gained() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO circle_counters AS c (org, project, reader, entries, user_entries, multimodal, bytes, images, summaries)
    SELECT m.org, coalesce(m.project, ''), m.reader, count(*), count(*) FILTER (WHERE m.source = 'user'),
      count(*) FILTER (WHERE m.image_count > 0), sum(m.bytes), sum(m.image_count), count(*) FILTER (WHERE m.summary <> '')
    FROM moved m WHERE m.listed = 1 GROUP BY 1, 2, 3
    ON CONFLICT ON CONSTRAINT circle_counters_pkey DO UPDATE SET
      entries = c.entries + excluded.entries, user_entries = c.user_entries + excluded.user_entries,
      multimodal = c.multimodal + excluded.multimodal, bytes = c.bytes + excluded.bytes, images = c.images + excluded.images,
      summaries = c.summaries + excluded.summaries;
  INSERT INTO thread_counters AS c (
      org, thread_id, project, reader, entries, user_entries, multimodal, bytes, words, first_second, last_second, first_id, last_id
    )
    SELECT m.org, m.thread_id, coalesce(m.project, ''), m.reader, count(*), count(*) FILTER (WHERE m.source = 'user'),
      count(*) FILTER (WHERE m.image_count > 0), sum(m.bytes), sum(m.text_words), min(m.created_second), max(m.created_second),
      min(m.id), max(m.id)
    FROM moved m WHERE m.listed = 1 GROUP BY 1, 2, 3, 4
    ON CONFLICT ON CONSTRAINT thread_counters_pkey DO UPDATE SET
      entries = c.entries + excluded.entries, user_entries = c.user_entries + excluded.user_entries,
      multimodal = c.multimodal + excluded.multimodal, bytes = c.bytes + excluded.bytes, words = c.words + excluded.words,
      first_second = least(c.first_second, excluded.first_second), last_second = greatest(c.last_second, excluded.last_second),
      first_id = least(c.first_id, excluded.first_id), last_id = greatest(c.last_id, excluded.last_id);
  INSERT INTO layer_counters AS c (org, layer, project, reader, kind, pinned, entries, words, first_id, last_id)
    SELECT m.org, m.layer, coalesce(m.project, ''), m.reader, m.kind, m.pinned, count(*), sum(m.text_words), min(m.id), max(m.id)
    FROM moved m WHERE m.listed = 1 AND m.expires_at IS NULL GROUP BY 1, 2, 3, 4, 5, 6
    ON CONFLICT ON CONSTRAINT layer_counters_pkey DO UPDATE SET
      entries = c.entries + excluded.entries, words = c.words + excluded.words,
      first_id = least(c.first_id, excluded.first_id), last_id = greatest(c.last_id, excluded.last_id);
  RETURN NULL;
END $$;

DROP TRIGGER counters_gain ON entries;

DROP TRIGGER circles_gain ON entries;

DROP TRIGGER layers_gain ON entries;

CREATE TRIGGER counters_gain AFTER INSERT ON entries REFERENCING NEW TABLE AS moved
  FOR EACH STATEMENT EXECUTE FUNCTION keep_gained();
