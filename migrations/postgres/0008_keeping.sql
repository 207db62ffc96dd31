-- What is kept in step with entries and worked off behind calls: how much there is of everything, and what is still to be done.

-- What each org holds, by part, kept in step by the statements that change it: 'entries' (text and metadata), 'images', and what the
-- files of other subjects add. An image counts once an org, however many entries show it; an entry counts until its row is gone.
CREATE TABLE org_usage (
  org text COLLATE "C" NOT NULL,
  part text COLLATE "C" NOT NULL, -- 'entries': text and metadata; 'images'
  items bigint NOT NULL,
  bytes bigint NOT NULL,
  -- What stood there when the write that is going on began, so that one that takes no more room is never refused.
  items_before bigint NOT NULL DEFAULT 0,
  bytes_before bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (org, part)
);

CREATE FUNCTION use_room(of_org text, of_part text, more_items bigint, more_bytes bigint) RETURNS void LANGUAGE plpgsql
  SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO org_usage AS u (org, part, items, bytes) VALUES (of_org, of_part, more_items, more_bytes)
    ON CONFLICT (org, part) DO UPDATE SET items = u.items + excluded.items, bytes = u.bytes + excluded.bytes;
END $$;

CREATE FUNCTION keep_usage_gain() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM use_room(of_org.org, 'entries', of_org.items, of_org.bytes)
    FROM (SELECT org, count(*) AS items, sum(bytes) AS bytes FROM moved GROUP BY org ORDER BY org) AS of_org;
  RETURN NULL;
END $$;

CREATE TRIGGER usage_gain AFTER INSERT ON entries REFERENCING NEW TABLE AS moved
  FOR EACH STATEMENT EXECUTE FUNCTION keep_usage_gain();

CREATE FUNCTION keep_usage_loss() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM use_room(of_org.org, 'entries', -of_org.items, -of_org.bytes)
    FROM (SELECT org, count(*) AS items, sum(bytes) AS bytes FROM moved GROUP BY org ORDER BY org) AS of_org;
  RETURN NULL;
END $$;

CREATE TRIGGER usage_loss AFTER DELETE ON entries REFERENCING OLD TABLE AS moved
  FOR EACH STATEMENT EXECUTE FUNCTION keep_usage_loss();

CREATE FUNCTION keep_usage_change() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM use_room(NEW.org, 'entries', 0, NEW.bytes - OLD.bytes);
  RETURN NULL;
END $$;

CREATE TRIGGER usage_change AFTER UPDATE OF bytes ON entries FOR EACH ROW
  WHEN (OLD.bytes <> NEW.bytes) EXECUTE FUNCTION keep_usage_change();

CREATE FUNCTION keep_usage_of_images() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  one image_uses;
BEGIN
  IF TG_OP = 'INSERT' THEN one := NEW; ELSE one := OLD; END IF;
  IF EXISTS (SELECT 1 FROM image_uses WHERE org = one.org AND hash = one.hash AND entry_id <> one.entry_id) THEN
    RETURN NULL;
  END IF;
  IF TG_OP = 'INSERT' THEN PERFORM use_room(one.org, 'images', 1, one.size);
  ELSE PERFORM use_room(one.org, 'images', -1, -one.size);
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER usage_of_images AFTER INSERT OR DELETE ON image_uses FOR EACH ROW EXECUTE FUNCTION keep_usage_of_images();

-- What list_threads and totals read instead of the entries. One row for each thread, project and circle of readers.
CREATE TABLE thread_counters (
  org text COLLATE "C" NOT NULL,
  thread_id text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL, -- '' for none
  reader text COLLATE "C" NOT NULL,
  entries bigint NOT NULL,
  user_entries bigint NOT NULL,
  multimodal bigint NOT NULL,
  bytes bigint NOT NULL,
  words bigint NOT NULL,
  first_second bigint NOT NULL,
  last_second bigint NOT NULL,
  first_id bigint NOT NULL,
  last_id bigint NOT NULL,
  PRIMARY KEY (org, thread_id, project, reader)
);

-- The list of threads as resources: the last used first, with what scope asks.
CREATE INDEX thread_counters_by_use ON thread_counters (org, last_second, last_id, reader, project);

-- How many entries of each sort a layer holds, so that totals and statistics of memories cost the same in a store of any size. Each
-- listed entry without an end is counted in one row. Those with an end leave by themselves, so they are counted when asked for.
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

-- What get_statistics tells, for each circle of readers: by project and reader. Only what lists show is counted.
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

-- What one statement stores enters each row of counters once: a call restores a thousand entries of a thread at a time, and each would
-- go through the versions of the row that those before it have left. Writers of an org wait for each other, so the order of rows is
-- free. On D1 a row that is written again and again within a transaction leaves no versions to go through.
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

CREATE TRIGGER counters_gain AFTER INSERT ON entries REFERENCING NEW TABLE AS moved
  FOR EACH STATEMENT EXECUTE FUNCTION keep_gained();

CREATE FUNCTION count_in(entry entries) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO thread_counters AS c (org, thread_id, project, reader, entries, user_entries, multimodal,
    bytes, words, first_second, last_second, first_id, last_id)
    VALUES (entry.org, entry.thread_id, coalesce(entry.project, ''), entry.reader, 1, (entry.source = 'user')::int,
      (entry.image_count > 0)::int,
      entry.bytes, entry.text_words, entry.created_second, entry.created_second, entry.id, entry.id)
    ON CONFLICT ON CONSTRAINT thread_counters_pkey DO UPDATE SET
      entries = c.entries + 1, user_entries = c.user_entries + excluded.user_entries, multimodal = c.multimodal + excluded.multimodal,
      bytes = c.bytes + excluded.bytes, words = c.words + excluded.words,
      first_second = least(c.first_second, excluded.first_second), last_second = greatest(c.last_second, excluded.last_second),
      first_id = least(c.first_id, excluded.first_id), last_id = greatest(c.last_id, excluded.last_id);
END $$;

-- The first and the last of a row are looked up again only when the entry that leaves was one of them, in the order of the index that
-- has the threads. Of many that leave together all rows are gone when the first is counted out, so that the first and the last found
-- then are right for all; each further look would go through all that are gone. D1's indexes by circle are not here: with them, the
-- planner took worse ways to other rows (test/node/plans-postgres.test.ts).
CREATE FUNCTION count_out(entry entries) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
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

CREATE TRIGGER counters_loss AFTER DELETE ON entries FOR EACH ROW WHEN (OLD.listed = 1) EXECUTE FUNCTION keep_counters();

CREATE TRIGGER counters_moved AFTER UPDATE OF archived, diary, audience, project, image_count, bytes, text_words ON entries FOR EACH ROW
  WHEN ((NEW.listed, NEW.project, NEW.reader, NEW.image_count, NEW.bytes, NEW.text_words)
    IS DISTINCT FROM (OLD.listed, OLD.project, OLD.reader, OLD.image_count, OLD.bytes, OLD.text_words))
  EXECUTE FUNCTION keep_counters();

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

CREATE FUNCTION keep_circles() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN PERFORM count_circle(OLD, -1); END IF;
  IF TG_OP <> 'DELETE' THEN PERFORM count_circle(NEW, 1); END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER circles_loss AFTER DELETE ON entries FOR EACH ROW WHEN (OLD.listed = 1) EXECUTE FUNCTION keep_circles();

CREATE TRIGGER circles_changed AFTER UPDATE OF archived, diary, audience, owner, project, image_count, bytes, summary ON entries
  FOR EACH ROW
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

-- Work that depends on another service, recorded with the write that causes it and retried until it succeeds. A claim carries a token,
-- and who lost it can finish nothing.
CREATE TABLE outbox (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  org text COLLATE "C" NOT NULL,
  topic text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'claimed', 'failed')), -- 'claimed': a worker is acting on it now
  attempts integer NOT NULL DEFAULT 0,
  created_at bigint NOT NULL,
  due_at bigint NOT NULL,
  last_error text,
  token text COLLATE "C", -- who took it last
  UNIQUE (org, topic, key)
);

CREATE INDEX outbox_by_due ON outbox (topic, due_at, id);

-- Objects whose removal was begun, so that they may be missing whatever became of it. A write that put its bytes before the removal
-- must not commit: it is refused while there is a mark that it did not know when it put them.
CREATE TABLE image_removals (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, -- another one for each removal
  org text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  UNIQUE (org, hash)
);

CREATE INDEX image_removals_by_time ON image_removals (at);

-- An image that nothing in the org uses is queued for removal by the statement that drops its last use.
CREATE FUNCTION keep_unused() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM images_in_use WHERE org = OLD.org AND hash = OLD.hash) THEN
    INSERT INTO outbox (org, topic, key, created_at, due_at)
      VALUES (OLD.org, 'image_delete', OLD.hash, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, 0)
      ON CONFLICT (org, topic, key) DO NOTHING;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER images_unused AFTER DELETE ON image_uses FOR EACH ROW EXECUTE FUNCTION keep_unused();

-- Writers of different orgs run at the same time here, and so does the removal of images. A new use takes the row of work away, which
-- waits for a removal that is just taking it; when that one was first, the write is refused.
CREATE FUNCTION keep_used() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  taken text;
BEGIN
  DELETE FROM outbox WHERE org = NEW.org AND topic = 'image_delete' AND key = NEW.hash RETURNING state INTO taken;
  IF taken = 'claimed' THEN PERFORM premise_failed(); END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER images_used AFTER INSERT ON image_uses FOR EACH ROW EXECUTE FUNCTION keep_used();

-- Entries that one call deletes beyond what one transaction takes away: gone for every reader from its commit on, and removed part by
-- part behind it.
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

-- How far each step of the schedule has come.
CREATE TABLE schedule (
  step text COLLATE "C" PRIMARY KEY,
  cursor text, -- where its next round begins; null at the start
  finished_at bigint, -- when it last came to its end
  failures integer NOT NULL DEFAULT 0, -- since it last succeeded
  last_error text
);
