-- Entries that one call deletes beyond what one transaction takes away: gone for every reader from its commit on
-- (src/adapters/sql/visibility.ts), and removed part by part behind it (src/adapters/sql/leaving.ts).

CREATE TABLE leaving (
  entry_id bigint PRIMARY KEY,
  org text COLLATE "C" NOT NULL,
  part integer NOT NULL, -- from 1; what goes together
  -- Who deletes and how, as in `writing`.
  change_id text COLLATE "C" NOT NULL,
  key_id text COLLATE "C",
  agent text COLLATE "C",
  at bigint,
  keeps integer NOT NULL,
  erases integer NOT NULL -- whether nothing of their history is left either
);

CREATE INDEX leaving_by_call ON leaving (org, change_id, part);

-- As in 0002_counters.sql, but for one thing. Of many that leave together all rows are gone when the first is counted out, so that
-- the first and the last found then are right for all; each further look would go through all that are gone.
CREATE OR REPLACE FUNCTION count_out(entry entries) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  of_project text COLLATE "C" := coalesce(entry.project, '');
BEGIN
  UPDATE thread_counters c SET
      entries = c.entries - 1, user_entries = c.user_entries - (entry.source = 'user')::int,
      multimodal = c.multimodal - (entry.image_count > 0)::int, bytes = c.bytes - entry.bytes, words = c.words - entry.text_words,
      first_second = CASE WHEN entry.created_second <> c.first_second OR c.entries = 1 THEN c.first_second ELSE coalesce((
          SELECT e.created_second FROM entries e
          WHERE e.listed = 1 AND e.org = entry.org AND e.thread_id = entry.thread_id AND coalesce(e.project, '') = of_project
            AND e.reader = entry.reader
          ORDER BY e.created_second LIMIT 1
        ), c.first_second) END,
      last_second = CASE WHEN entry.created_second <> c.last_second OR c.entries = 1 THEN c.last_second ELSE coalesce((
          SELECT e.created_second FROM entries e
          WHERE e.listed = 1 AND e.org = entry.org AND e.thread_id = entry.thread_id AND coalesce(e.project, '') = of_project
            AND e.reader = entry.reader
          ORDER BY e.created_second DESC LIMIT 1
        ), c.last_second) END,
      first_id = CASE WHEN entry.id <> c.first_id OR c.entries = 1 THEN c.first_id ELSE coalesce((
          SELECT e.id FROM entries e
          WHERE e.listed = 1 AND e.org = entry.org AND e.thread_id = entry.thread_id AND coalesce(e.project, '') = of_project
            AND e.reader = entry.reader
          ORDER BY e.id LIMIT 1
        ), c.first_id) END,
      last_id = CASE WHEN entry.id <> c.last_id OR c.entries = 1 THEN c.last_id ELSE coalesce((
          SELECT e.id FROM entries e
          WHERE e.listed = 1 AND e.org = entry.org AND e.thread_id = entry.thread_id AND coalesce(e.project, '') = of_project
            AND e.reader = entry.reader
          ORDER BY e.id DESC LIMIT 1
        ), c.last_id) END
    WHERE c.org = entry.org AND c.thread_id = entry.thread_id AND c.project = of_project AND c.reader = entry.reader;
  DELETE FROM thread_counters c
    WHERE c.org = entry.org AND c.thread_id = entry.thread_id AND c.project = of_project AND c.reader = entry.reader AND c.entries = 0;
END $$;
