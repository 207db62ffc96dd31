-- What is kept in step with entries and worked off behind calls: how much there is of everything, and what is still to be done.

-- What each org holds, by part, kept in step by the statements that change it: 'entries' (text and metadata), 'images', and what the
-- files of other subjects add. An image counts once an org, however many entries show it; an entry counts until its row is gone.
CREATE TABLE org_usage (
  org TEXT NOT NULL,
  part TEXT NOT NULL, -- 'entries': text and metadata; 'images'
  items INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  -- What stood there when the write that is going on began, so that one that takes no more room is never refused.
  items_before INTEGER NOT NULL DEFAULT 0,
  bytes_before INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (org, part)
) WITHOUT ROWID;

CREATE TRIGGER usage_gain AFTER INSERT ON entries
BEGIN
  INSERT INTO org_usage (org, part, items, bytes) VALUES (NEW.org, 'entries', 1, NEW.bytes)
    ON CONFLICT (org, part) DO UPDATE SET items = items + 1, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER usage_loss AFTER DELETE ON entries
BEGIN
  UPDATE org_usage SET items = items - 1, bytes = bytes - OLD.bytes WHERE org = OLD.org AND part = 'entries';
END;

CREATE TRIGGER usage_change AFTER UPDATE OF bytes ON entries WHEN OLD.bytes <> NEW.bytes
BEGIN
  UPDATE org_usage SET bytes = bytes - OLD.bytes + NEW.bytes WHERE org = NEW.org AND part = 'entries';
END;

CREATE TRIGGER usage_of_images_gain AFTER INSERT ON image_uses
  WHEN NOT EXISTS (SELECT 1 FROM image_uses WHERE org = NEW.org AND hash = NEW.hash AND entry_id <> NEW.entry_id)
BEGIN
  INSERT INTO org_usage (org, part, items, bytes) VALUES (NEW.org, 'images', 1, NEW.size)
    ON CONFLICT (org, part) DO UPDATE SET items = items + 1, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER usage_of_images_loss AFTER DELETE ON image_uses
  WHEN NOT EXISTS (SELECT 1 FROM image_uses WHERE org = OLD.org AND hash = OLD.hash)
BEGIN
  UPDATE org_usage SET items = items - 1, bytes = bytes - OLD.size WHERE org = OLD.org AND part = 'images';
END;

-- What list_threads and totals read instead of the entries. One row for each thread, project and circle of readers.
CREATE TABLE thread_counters (
  org TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  project TEXT NOT NULL, -- '' for none
  reader TEXT NOT NULL,
  entries INTEGER NOT NULL,
  user_entries INTEGER NOT NULL,
  multimodal INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  words INTEGER NOT NULL,
  first_second INTEGER NOT NULL,
  last_second INTEGER NOT NULL,
  first_id INTEGER NOT NULL,
  last_id INTEGER NOT NULL,
  PRIMARY KEY (org, thread_id, project, reader)
) WITHOUT ROWID;

-- The list of threads as resources: the last used first, with what scope asks.
CREATE INDEX thread_counters_by_use ON thread_counters (org, last_second, last_id, reader, project);

-- How many entries of each sort a layer holds, so that totals and statistics of memories cost the same in a store of any size. Each
-- listed entry without an end is counted in one row. Those with an end leave by themselves, so they are counted when asked for.
CREATE TABLE layer_counters (
  org TEXT NOT NULL,
  layer INTEGER NOT NULL,
  project TEXT NOT NULL, -- '' for none
  reader TEXT NOT NULL,
  kind TEXT NOT NULL,
  pinned INTEGER NOT NULL,
  entries INTEGER NOT NULL,
  words INTEGER NOT NULL,
  first_id INTEGER NOT NULL, -- between which ids they stand, or stood
  last_id INTEGER NOT NULL,
  PRIMARY KEY (org, layer, project, reader, kind, pinned)
) WITHOUT ROWID;

-- What get_statistics tells, for each circle of readers: by project and reader. Only what lists show is counted.
CREATE TABLE circle_counters (
  org TEXT NOT NULL,
  project TEXT NOT NULL, -- '' for none
  reader TEXT NOT NULL,
  entries INTEGER NOT NULL,
  user_entries INTEGER NOT NULL,
  multimodal INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  images INTEGER NOT NULL,
  summaries INTEGER NOT NULL,
  PRIMARY KEY (org, project, reader)
) WITHOUT ROWID;

CREATE TABLE tag_counters (
  org TEXT NOT NULL,
  tag TEXT NOT NULL,
  project TEXT NOT NULL,
  reader TEXT NOT NULL,
  uses INTEGER NOT NULL,
  PRIMARY KEY (org, tag, project, reader)
) WITHOUT ROWID;

-- Each listed entry is counted in one row of each, and leaves it when it is deleted, archived or changes hands.
CREATE TRIGGER counters_gain AFTER INSERT ON entries WHEN NEW.listed = 1
BEGIN
  INSERT INTO thread_counters (org, thread_id, project, reader, entries, user_entries, multimodal,
    bytes, words, first_second, last_second, first_id, last_id)
    VALUES (NEW.org, NEW.thread_id, coalesce(NEW.project, ''), NEW.reader, 1, NEW.source = 'user', NEW.image_count > 0,
      NEW.bytes, NEW.text_words, NEW.created_second, NEW.created_second, NEW.id, NEW.id)
    ON CONFLICT (org, thread_id, project, reader) DO UPDATE SET
      entries = entries + 1, user_entries = user_entries + excluded.user_entries, multimodal = multimodal + excluded.multimodal,
      bytes = bytes + excluded.bytes, words = words + excluded.words,
      first_second = min(first_second, excluded.first_second), last_second = max(last_second, excluded.last_second),
      first_id = min(first_id, excluded.first_id), last_id = max(last_id, excluded.last_id);
END;

CREATE TRIGGER counters_loss AFTER DELETE ON entries WHEN OLD.listed = 1
BEGIN
  UPDATE thread_counters SET
      entries = entries - 1, user_entries = user_entries - (OLD.source = 'user'), multimodal = multimodal - (OLD.image_count > 0),
      bytes = bytes - OLD.bytes, words = words - OLD.text_words,
      first_second = CASE WHEN OLD.created_second > first_second OR entries = 1 THEN first_second ELSE
        (SELECT created_second FROM entries
          WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND coalesce(project, '') = coalesce(OLD.project, '')
            AND reader = OLD.reader ORDER BY created_second LIMIT 1) END,
      last_second = CASE WHEN OLD.created_second < last_second OR entries = 1 THEN last_second ELSE
        (SELECT created_second FROM entries
          WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND coalesce(project, '') = coalesce(OLD.project, '')
            AND reader = OLD.reader ORDER BY created_second DESC LIMIT 1) END,
      first_id = CASE WHEN OLD.id > first_id OR entries = 1 THEN first_id ELSE
        (SELECT min(id) FROM (
          SELECT * FROM (SELECT id FROM entries
            WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND source = 'user' AND reader = OLD.reader
              AND coalesce(project, '') = coalesce(OLD.project, '') ORDER BY id LIMIT 1)
          UNION ALL SELECT * FROM (SELECT id FROM entries
            WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND source = 'agent' AND reader = OLD.reader
              AND coalesce(project, '') = coalesce(OLD.project, '') ORDER BY id LIMIT 1)
        )) END,
      last_id = CASE WHEN OLD.id < last_id OR entries = 1 THEN last_id ELSE
        (SELECT max(id) FROM (
          SELECT * FROM (SELECT id FROM entries
            WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND source = 'user' AND reader = OLD.reader
              AND coalesce(project, '') = coalesce(OLD.project, '') ORDER BY id DESC LIMIT 1)
          UNION ALL SELECT * FROM (SELECT id FROM entries
            WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND source = 'agent' AND reader = OLD.reader
              AND coalesce(project, '') = coalesce(OLD.project, '') ORDER BY id DESC LIMIT 1)
        )) END
    WHERE org = OLD.org AND thread_id = OLD.thread_id AND project = coalesce(OLD.project, '') AND reader = OLD.reader;
  DELETE FROM thread_counters
    WHERE org = OLD.org AND thread_id = OLD.thread_id AND project = coalesce(OLD.project, '') AND reader = OLD.reader AND entries = 0;
END;

-- What stays where it is changes one row of each; only what moves leaves one and joins another.
CREATE TRIGGER counters_resized AFTER UPDATE OF image_count, bytes, text_words ON entries
  WHEN OLD.listed = 1 AND (NEW.listed, NEW.project, NEW.reader, NEW.thread_id) IS (OLD.listed, OLD.project, OLD.reader, OLD.thread_id)
    AND (NEW.image_count, NEW.bytes, NEW.text_words) IS NOT (OLD.image_count, OLD.bytes, OLD.text_words)
BEGIN
  UPDATE thread_counters SET
      multimodal = multimodal - (OLD.image_count > 0) + (NEW.image_count > 0), bytes = bytes - OLD.bytes + NEW.bytes,
      words = words - OLD.text_words + NEW.text_words
    WHERE org = OLD.org AND thread_id = OLD.thread_id AND project = coalesce(OLD.project, '') AND reader = OLD.reader;
END;

CREATE TRIGGER counters_left AFTER UPDATE OF archived, diary, audience, owner, project, thread_id ON entries
  WHEN OLD.listed = 1 AND (NEW.listed, NEW.project, NEW.reader, NEW.thread_id) IS NOT (OLD.listed, OLD.project, OLD.reader, OLD.thread_id)
BEGIN
  UPDATE thread_counters SET
      entries = entries - 1, user_entries = user_entries - (OLD.source = 'user'), multimodal = multimodal - (OLD.image_count > 0),
      bytes = bytes - OLD.bytes, words = words - OLD.text_words,
      first_second = CASE WHEN OLD.created_second > first_second OR entries = 1 THEN first_second ELSE
        coalesce((SELECT created_second FROM entries
          WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND coalesce(project, '') = coalesce(OLD.project, '')
            AND reader = OLD.reader ORDER BY created_second LIMIT 1), first_second) END,
      last_second = CASE WHEN OLD.created_second < last_second OR entries = 1 THEN last_second ELSE
        coalesce((SELECT created_second FROM entries
          WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND coalesce(project, '') = coalesce(OLD.project, '')
            AND reader = OLD.reader ORDER BY created_second DESC LIMIT 1), last_second) END,
      first_id = CASE WHEN OLD.id > first_id OR entries = 1 THEN first_id ELSE
        coalesce((SELECT min(id) FROM (
          SELECT * FROM (SELECT id FROM entries
            WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND source = 'user' AND reader = OLD.reader
              AND coalesce(project, '') = coalesce(OLD.project, '') ORDER BY id LIMIT 1)
          UNION ALL SELECT * FROM (SELECT id FROM entries
            WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND source = 'agent' AND reader = OLD.reader
              AND coalesce(project, '') = coalesce(OLD.project, '') ORDER BY id LIMIT 1)
        )), first_id) END,
      last_id = CASE WHEN OLD.id < last_id OR entries = 1 THEN last_id ELSE
        coalesce((SELECT max(id) FROM (
          SELECT * FROM (SELECT id FROM entries
            WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND source = 'user' AND reader = OLD.reader
              AND coalesce(project, '') = coalesce(OLD.project, '') ORDER BY id DESC LIMIT 1)
          UNION ALL SELECT * FROM (SELECT id FROM entries
            WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND source = 'agent' AND reader = OLD.reader
              AND coalesce(project, '') = coalesce(OLD.project, '') ORDER BY id DESC LIMIT 1)
        )), last_id) END
    WHERE org = OLD.org AND thread_id = OLD.thread_id AND project = coalesce(OLD.project, '') AND reader = OLD.reader;
  DELETE FROM thread_counters
    WHERE org = OLD.org AND thread_id = OLD.thread_id AND project = coalesce(OLD.project, '') AND reader = OLD.reader AND entries = 0;
END;

CREATE TRIGGER counters_joined AFTER UPDATE OF archived, diary, audience, owner, project, thread_id ON entries
  WHEN NEW.listed = 1 AND (NEW.listed, NEW.project, NEW.reader, NEW.thread_id) IS NOT (OLD.listed, OLD.project, OLD.reader, OLD.thread_id)
BEGIN
  INSERT INTO thread_counters (org, thread_id, project, reader, entries, user_entries, multimodal,
    bytes, words, first_second, last_second, first_id, last_id)
    VALUES (NEW.org, NEW.thread_id, coalesce(NEW.project, ''), NEW.reader, 1, NEW.source = 'user', NEW.image_count > 0,
      NEW.bytes, NEW.text_words, NEW.created_second, NEW.created_second, NEW.id, NEW.id)
    ON CONFLICT (org, thread_id, project, reader) DO UPDATE SET
      entries = entries + 1, user_entries = user_entries + excluded.user_entries, multimodal = multimodal + excluded.multimodal,
      bytes = bytes + excluded.bytes, words = words + excluded.words,
      first_second = min(first_second, excluded.first_second), last_second = max(last_second, excluded.last_second),
      first_id = min(first_id, excluded.first_id), last_id = max(last_id, excluded.last_id);
END;

CREATE TRIGGER layers_gain AFTER INSERT ON entries WHEN NEW.listed = 1 AND NEW.expires_at IS NULL
BEGIN
  INSERT INTO layer_counters (org, layer, project, reader, kind, pinned, entries, words, first_id, last_id)
    VALUES (NEW.org, NEW.layer, coalesce(NEW.project, ''), NEW.reader, NEW.kind, NEW.pinned, 1, NEW.text_words, NEW.id, NEW.id)
    ON CONFLICT (org, layer, project, reader, kind, pinned) DO UPDATE SET
      entries = entries + 1, words = words + excluded.words,
      first_id = min(first_id, excluded.first_id), last_id = max(last_id, excluded.last_id);
END;

CREATE TRIGGER layers_loss AFTER DELETE ON entries WHEN OLD.listed = 1 AND OLD.expires_at IS NULL
BEGIN
  UPDATE layer_counters SET entries = entries - 1, words = words - OLD.text_words
    WHERE org = OLD.org AND layer = OLD.layer AND project = coalesce(OLD.project, '') AND reader = OLD.reader
      AND kind = OLD.kind AND pinned = OLD.pinned;
  DELETE FROM layer_counters
    WHERE org = OLD.org AND layer = OLD.layer AND project = coalesce(OLD.project, '') AND reader = OLD.reader
      AND kind = OLD.kind AND pinned = OLD.pinned AND entries = 0;
END;

CREATE TRIGGER layers_resized AFTER UPDATE OF text_words ON entries
  WHEN OLD.listed = 1 AND OLD.expires_at IS NULL AND OLD.text_words <> NEW.text_words
    AND (NEW.listed, NEW.expires_at, NEW.layer, NEW.project, NEW.reader, NEW.kind, NEW.pinned)
      IS (OLD.listed, OLD.expires_at, OLD.layer, OLD.project, OLD.reader, OLD.kind, OLD.pinned)
BEGIN
  UPDATE layer_counters SET words = words - OLD.text_words + NEW.text_words
    WHERE org = OLD.org AND layer = OLD.layer AND project = coalesce(OLD.project, '') AND reader = OLD.reader
      AND kind = OLD.kind AND pinned = OLD.pinned;
END;

CREATE TRIGGER layers_left AFTER UPDATE OF
    layer, project, audience, owner, diary, archived, named_kind, tag_kind, work_item, source, given_pinned, named_pinned,
    named_expires_at, layer_expires_at
  ON entries
  WHEN OLD.listed = 1 AND OLD.expires_at IS NULL
    AND (NEW.listed, NEW.expires_at, NEW.layer, NEW.project, NEW.reader, NEW.kind, NEW.pinned)
      IS NOT (OLD.listed, OLD.expires_at, OLD.layer, OLD.project, OLD.reader, OLD.kind, OLD.pinned)
BEGIN
  UPDATE layer_counters SET entries = entries - 1, words = words - OLD.text_words
    WHERE org = OLD.org AND layer = OLD.layer AND project = coalesce(OLD.project, '') AND reader = OLD.reader
      AND kind = OLD.kind AND pinned = OLD.pinned;
  DELETE FROM layer_counters
    WHERE org = OLD.org AND layer = OLD.layer AND project = coalesce(OLD.project, '') AND reader = OLD.reader
      AND kind = OLD.kind AND pinned = OLD.pinned AND entries = 0;
END;

CREATE TRIGGER layers_joined AFTER UPDATE OF
    layer, project, audience, owner, diary, archived, named_kind, tag_kind, work_item, source, given_pinned, named_pinned,
    named_expires_at, layer_expires_at
  ON entries
  WHEN NEW.listed = 1 AND NEW.expires_at IS NULL
    AND (NEW.listed, NEW.expires_at, NEW.layer, NEW.project, NEW.reader, NEW.kind, NEW.pinned)
      IS NOT (OLD.listed, OLD.expires_at, OLD.layer, OLD.project, OLD.reader, OLD.kind, OLD.pinned)
BEGIN
  INSERT INTO layer_counters (org, layer, project, reader, kind, pinned, entries, words, first_id, last_id)
    VALUES (NEW.org, NEW.layer, coalesce(NEW.project, ''), NEW.reader, NEW.kind, NEW.pinned, 1, NEW.text_words, NEW.id, NEW.id)
    ON CONFLICT (org, layer, project, reader, kind, pinned) DO UPDATE SET
      entries = entries + 1, words = words + excluded.words,
      first_id = min(first_id, excluded.first_id), last_id = max(last_id, excluded.last_id);
END;

CREATE TRIGGER circles_gain AFTER INSERT ON entries WHEN NEW.listed = 1
BEGIN
  INSERT INTO circle_counters (org, project, reader, entries, user_entries, multimodal, bytes, images, summaries)
    VALUES (
      NEW.org, coalesce(NEW.project, ''), NEW.reader, 1, NEW.source = 'user', NEW.image_count > 0, NEW.bytes, NEW.image_count,
      NEW.summary <> ''
    )
    ON CONFLICT (org, project, reader) DO UPDATE SET
      entries = entries + 1, user_entries = user_entries + excluded.user_entries, multimodal = multimodal + excluded.multimodal,
      bytes = bytes + excluded.bytes, images = images + excluded.images, summaries = summaries + excluded.summaries;
END;

CREATE TRIGGER circles_loss AFTER DELETE ON entries WHEN OLD.listed = 1
BEGIN
  UPDATE circle_counters SET
      entries = entries - 1, user_entries = user_entries - (OLD.source = 'user'), multimodal = multimodal - (OLD.image_count > 0),
      bytes = bytes - OLD.bytes, images = images - OLD.image_count, summaries = summaries - (OLD.summary <> '')
    WHERE org = OLD.org AND project = coalesce(OLD.project, '') AND reader = OLD.reader;
  DELETE FROM circle_counters
    WHERE org = OLD.org AND project = coalesce(OLD.project, '') AND reader = OLD.reader AND entries = 0;
END;

CREATE TRIGGER circles_resized AFTER UPDATE OF image_count, bytes, summary ON entries
  WHEN OLD.listed = 1 AND (OLD.listed, OLD.project, OLD.reader) IS (NEW.listed, NEW.project, NEW.reader)
    AND (OLD.image_count, OLD.bytes, OLD.summary <> '') IS NOT (NEW.image_count, NEW.bytes, NEW.summary <> '')
BEGIN
  UPDATE circle_counters SET
      multimodal = multimodal - (OLD.image_count > 0) + (NEW.image_count > 0), bytes = bytes - OLD.bytes + NEW.bytes,
      images = images - OLD.image_count + NEW.image_count, summaries = summaries - (OLD.summary <> '') + (NEW.summary <> '')
    WHERE org = OLD.org AND project = coalesce(OLD.project, '') AND reader = OLD.reader;
END;

CREATE TRIGGER circles_changed AFTER UPDATE OF archived, diary, audience, owner, project ON entries
  WHEN (OLD.listed, OLD.project, OLD.reader) IS NOT (NEW.listed, NEW.project, NEW.reader)
BEGIN
  UPDATE circle_counters SET
      entries = entries - 1, user_entries = user_entries - (OLD.source = 'user'), multimodal = multimodal - (OLD.image_count > 0),
      bytes = bytes - OLD.bytes, images = images - OLD.image_count, summaries = summaries - (OLD.summary <> '')
    WHERE OLD.listed = 1 AND org = OLD.org AND project = coalesce(OLD.project, '') AND reader = OLD.reader;
  INSERT INTO circle_counters (org, project, reader, entries, user_entries, multimodal, bytes, images, summaries)
    SELECT NEW.org, coalesce(NEW.project, ''), NEW.reader, 1, NEW.source = 'user', NEW.image_count > 0, NEW.bytes, NEW.image_count,
      NEW.summary <> ''
    WHERE NEW.listed = 1
    ON CONFLICT (org, project, reader) DO UPDATE SET
      entries = entries + 1, user_entries = user_entries + excluded.user_entries, multimodal = multimodal + excluded.multimodal,
      bytes = bytes + excluded.bytes, images = images + excluded.images, summaries = summaries + excluded.summaries;
  DELETE FROM circle_counters
    WHERE org = OLD.org AND project = coalesce(OLD.project, '') AND reader = OLD.reader AND entries = 0;
END;

CREATE TRIGGER tags_gain AFTER INSERT ON entry_tags WHEN NEW.listed = 1
BEGIN
  INSERT INTO tag_counters (org, tag, project, reader, uses) VALUES (NEW.org, NEW.tag, NEW.project, NEW.reader, 1)
    ON CONFLICT (org, tag, project, reader) DO UPDATE SET uses = uses + 1;
END;

CREATE TRIGGER tags_loss AFTER DELETE ON entry_tags WHEN OLD.listed = 1
BEGIN
  UPDATE tag_counters SET uses = uses - 1
    WHERE org = OLD.org AND tag = OLD.tag AND project = OLD.project AND reader = OLD.reader;
  DELETE FROM tag_counters
    WHERE org = OLD.org AND tag = OLD.tag AND project = OLD.project AND reader = OLD.reader AND uses = 0;
END;

-- Work that depends on another service, recorded with the write that causes it and retried until it succeeds. A claim carries a token,
-- and who lost it can finish nothing.
CREATE TABLE outbox (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  org TEXT NOT NULL,
  topic TEXT NOT NULL,
  key TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'claimed', 'failed')), -- 'claimed': a worker is acting on it now
  attempts INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  last_error TEXT,
  token TEXT, -- who took it last
  UNIQUE (org, topic, key)
);

CREATE INDEX outbox_by_due ON outbox (topic, due_at, id);

-- Objects whose removal was begun, so that they may be missing whatever became of it. A write that put its bytes before the removal
-- must not commit: it is refused while there is a mark that it did not know when it put them.
CREATE TABLE image_removals (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- another one for each removal
  org TEXT NOT NULL,
  hash TEXT NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (org, hash)
);

CREATE INDEX image_removals_by_time ON image_removals (at);

-- An image that nothing in the org uses is queued for removal by the statement that drops its last use.
CREATE TRIGGER images_unused AFTER DELETE ON image_uses
  WHEN NOT EXISTS (SELECT 1 FROM images_in_use WHERE org = OLD.org AND hash = OLD.hash)
BEGIN
  INSERT INTO outbox (org, topic, key, created_at, due_at) VALUES (OLD.org, 'image_delete', OLD.hash, unixepoch() * 1000, 0)
    ON CONFLICT (org, topic, key) DO NOTHING;
END;

-- What is used again waits for no removal any more; one that has begun is the guard's to see.
CREATE TRIGGER images_used AFTER INSERT ON image_uses
BEGIN
  DELETE FROM outbox WHERE org = NEW.org AND topic = 'image_delete' AND key = NEW.hash AND state <> 'claimed';
END;

-- Entries that one call deletes beyond what one transaction takes away: gone for every reader from its commit on, and removed part by
-- part behind it.
CREATE TABLE leaving (
  entry_id INTEGER PRIMARY KEY,
  org TEXT NOT NULL,
  part INTEGER NOT NULL, -- from 1; what goes together
  -- Who deletes and how, as in `writing`.
  change_id TEXT NOT NULL,
  key_id TEXT,
  agent TEXT,
  at INTEGER,
  keeps INTEGER NOT NULL,
  erases INTEGER NOT NULL -- whether nothing of their history is left either
);

CREATE INDEX leaving_by_call ON leaving (org, change_id, part);

-- How far each step of the schedule has come.
CREATE TABLE schedule (
  step TEXT PRIMARY KEY,
  cursor TEXT, -- where its next round begins; null at the start
  finished_at INTEGER, -- when it last came to its end
  failures INTEGER NOT NULL DEFAULT 0, -- since it last succeeded
  last_error TEXT
) WITHOUT ROWID;
