-- What each org holds, by part, kept in step by the statements that change it. Families that keep more bring a part of theirs.
-- An image counts once an org, however many entries show it; an entry counts until its row is gone.

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

INSERT INTO org_usage (org, part, items, bytes) SELECT org, 'entries', count(*), sum(bytes) FROM entries GROUP BY org;

INSERT INTO org_usage (org, part, items, bytes)
  SELECT org, 'images', count(*), sum(size) FROM (SELECT org, hash, max(size) AS size FROM image_uses GROUP BY org, hash)
  GROUP BY org;

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

-- A premise may have a name, which says what refused the batch.
DROP TRIGGER guards_check;

DROP VIEW guards;

CREATE VIEW guards AS SELECT 1 AS holds, '' AS premise;

CREATE TRIGGER guards_check INSTEAD OF INSERT ON guards WHEN NEW.holds IS NOT 1 AND NEW.premise IS NULL
BEGIN
  SELECT raise(ABORT, 'commonplace: premise no longer holds');
END;

CREATE TRIGGER guards_check_entries INSTEAD OF INSERT ON guards WHEN NEW.holds IS NOT 1 AND NEW.premise = 'MAX_ENTRIES_PER_ORG'
BEGIN
  SELECT raise(ABORT, 'commonplace: premise no longer holds: MAX_ENTRIES_PER_ORG');
END;

CREATE TRIGGER guards_check_bytes INSTEAD OF INSERT ON guards WHEN NEW.holds IS NOT 1 AND NEW.premise = 'MAX_BYTES_PER_ORG'
BEGIN
  SELECT raise(ABORT, 'commonplace: premise no longer holds: MAX_BYTES_PER_ORG');
END;
