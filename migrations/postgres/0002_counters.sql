-- Thread counters: each listed entry is counted in one row, and leaves it when it is deleted, archived or changes hands.

CREATE FUNCTION count_in(entry entries) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO thread_counters AS c (org, thread_id, project, reader, entries, user_entries, multimodal, bytes, words, first_second, last_second, first_id, last_id)
    VALUES (entry.org, entry.thread_id, coalesce(entry.project, ''), entry.reader, 1, (entry.source = 'user')::int, (entry.image_count > 0)::int, entry.bytes, entry.text_words, entry.created_second, entry.created_second, entry.id, entry.id)
    ON CONFLICT ON CONSTRAINT thread_counters_pkey DO UPDATE SET
      entries = c.entries + 1, user_entries = c.user_entries + excluded.user_entries, multimodal = c.multimodal + excluded.multimodal,
      bytes = c.bytes + excluded.bytes, words = c.words + excluded.words,
      first_second = least(c.first_second, excluded.first_second), last_second = greatest(c.last_second, excluded.last_second),
      first_id = least(c.first_id, excluded.first_id), last_id = greatest(c.last_id, excluded.last_id);
END $$;

-- The first and the last of a row are looked up again only when the entry that leaves was one of them.
CREATE FUNCTION count_out(entry entries) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  of_project text COLLATE "C" := coalesce(entry.project, '');
BEGIN
  UPDATE thread_counters c SET
      entries = c.entries - 1, user_entries = c.user_entries - (entry.source = 'user')::int, multimodal = c.multimodal - (entry.image_count > 0)::int,
      bytes = c.bytes - entry.bytes, words = c.words - entry.text_words,
      first_second = CASE WHEN entry.created_second > c.first_second OR c.entries = 1 THEN c.first_second ELSE
        coalesce((SELECT e.created_second FROM entries e WHERE e.listed = 1 AND e.org = entry.org AND e.thread_id = entry.thread_id AND coalesce(e.project, '') = of_project AND e.reader = entry.reader ORDER BY e.created_second LIMIT 1), c.first_second) END,
      last_second = CASE WHEN entry.created_second < c.last_second OR c.entries = 1 THEN c.last_second ELSE
        coalesce((SELECT e.created_second FROM entries e WHERE e.listed = 1 AND e.org = entry.org AND e.thread_id = entry.thread_id AND coalesce(e.project, '') = of_project AND e.reader = entry.reader ORDER BY e.created_second DESC LIMIT 1), c.last_second) END,
      first_id = CASE WHEN entry.id > c.first_id OR c.entries = 1 THEN c.first_id ELSE
        coalesce((SELECT e.id FROM entries e WHERE e.listed = 1 AND e.org = entry.org AND e.thread_id = entry.thread_id AND coalesce(e.project, '') = of_project AND e.reader = entry.reader ORDER BY e.id LIMIT 1), c.first_id) END,
      last_id = CASE WHEN entry.id < c.last_id OR c.entries = 1 THEN c.last_id ELSE
        coalesce((SELECT e.id FROM entries e WHERE e.listed = 1 AND e.org = entry.org AND e.thread_id = entry.thread_id AND coalesce(e.project, '') = of_project AND e.reader = entry.reader ORDER BY e.id DESC LIMIT 1), c.last_id) END
    WHERE c.org = entry.org AND c.thread_id = entry.thread_id AND c.project = of_project AND c.reader = entry.reader;
  DELETE FROM thread_counters c WHERE c.org = entry.org AND c.thread_id = entry.thread_id AND c.project = of_project AND c.reader = entry.reader AND c.entries = 0;
END $$;

CREATE FUNCTION keep_counters() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    IF OLD.listed = 1 THEN PERFORM count_out(OLD); END IF;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    IF NEW.listed = 1 THEN PERFORM count_in(NEW); END IF;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER counters_gain AFTER INSERT ON entries FOR EACH ROW WHEN (NEW.listed = 1) EXECUTE FUNCTION keep_counters();

CREATE TRIGGER counters_loss AFTER DELETE ON entries FOR EACH ROW WHEN (OLD.listed = 1) EXECUTE FUNCTION keep_counters();

CREATE TRIGGER counters_moved AFTER UPDATE OF archived, diary, audience, project, image_count, bytes, text_words ON entries FOR EACH ROW
  WHEN ((NEW.listed, NEW.project, NEW.reader, NEW.image_count, NEW.bytes, NEW.text_words) IS DISTINCT FROM (OLD.listed, OLD.project, OLD.reader, OLD.image_count, OLD.bytes, OLD.text_words))
  EXECUTE FUNCTION keep_counters();
