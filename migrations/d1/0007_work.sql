-- Work for other services is fenced: a claim carries a token, and who lost it can finish nothing. Images that nothing uses
-- are removed behind a mark, which later writes see.

-- Who took it last.
ALTER TABLE outbox ADD COLUMN token TEXT;

DROP INDEX outbox_by_due;

CREATE INDEX outbox_by_due ON outbox (topic, due_at, id);

-- The one rule of which images an org uses; what keeps images otherwise (kept versions) joins it here.
CREATE VIEW images_in_use AS SELECT org, hash FROM image_uses;

-- Objects whose removal was begun, so that they may be missing whatever became of it. A write that put its bytes before the
-- removal must not commit: it is refused while there is a mark that it did not know when it put them.
CREATE TABLE image_removals (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- another one for each removal
  org TEXT NOT NULL,
  hash TEXT NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (org, hash)
);

CREATE INDEX image_removals_by_time ON image_removals (at);

DROP TRIGGER images_unused;

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

-- How far each step of the schedule has come.
CREATE TABLE schedule (
  step TEXT PRIMARY KEY,
  cursor TEXT, -- where its next round begins; null at the start
  finished_at INTEGER, -- when it last came to its end
  failures INTEGER NOT NULL DEFAULT 0, -- since it last succeeded
  last_error TEXT
) WITHOUT ROWID;
