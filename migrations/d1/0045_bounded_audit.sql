-- What becomes of the audit log, and when things happened: rows go after their days, count among the bytes of their org, and stand for
-- several calls alike; a deletion has one instant, in the feed and in history.

DROP TRIGGER entries_deleted;

CREATE TRIGGER entries_deleted AFTER DELETE ON entries
BEGIN
  DELETE FROM entry_tags WHERE entry_id = OLD.id;
  DELETE FROM image_uses WHERE entry_id = OLD.id;
  DELETE FROM links WHERE org = OLD.org AND from_id = OLD.id;
  INSERT OR IGNORE INTO dangling_links (entry_id, org)
    SELECT OLD.id, OLD.org
    WHERE EXISTS (SELECT 1 FROM links WHERE to_id = OLD.id)
      AND NOT EXISTS (SELECT 1 FROM entry_versions WHERE entry_id = OLD.id);
  INSERT INTO changes (
      org, entry_id, action, version, at, change_id, key_id, agent,
      thread_id, project, kind, was_thread, was_project, was_kind, was_reader, last_reader
    )
    SELECT OLD.org, OLD.id, 'delete', OLD.version + 1, coalesce(w.at, CAST(unixepoch('subsec') * 1000 AS INTEGER)),
      coalesce(w.change_id, lower(hex(randomblob(16)))), w.key_id, w.agent,
      OLD.thread_id, OLD.project, OLD.kind, OLD.thread_id, OLD.project, OLD.kind,
      CASE WHEN OLD.listed = 1 AND (OLD.expires_at IS NULL OR OLD.expires_at > OLD.updated_at) THEN OLD.reader END,
      OLD.reader
    FROM (SELECT 1) LEFT JOIN writing w ON w.org IN (OLD.org, '');
END;

DROP TRIGGER entries_archived;

CREATE TRIGGER entries_archived AFTER UPDATE OF archived ON entries
  WHEN OLD.archived <> NEW.archived AND OLD.version = NEW.version
BEGIN
  INSERT INTO changes (
      org, entry_id, action, version, at, change_id, key_id, agent,
      thread_id, project, kind, reader, was_thread, was_project, was_kind, was_reader
    )
    SELECT NEW.org, NEW.id, 'update', NEW.version, coalesce(w.at, CAST(unixepoch('subsec') * 1000 AS INTEGER)),
      coalesce(w.change_id, lower(hex(randomblob(16)))), w.key_id, w.agent,
      NEW.thread_id, NEW.project, NEW.kind,
      CASE WHEN NEW.listed = 1 AND (NEW.expires_at IS NULL OR NEW.expires_at > NEW.updated_at) THEN NEW.reader END,
      OLD.thread_id, OLD.project, OLD.kind,
      CASE WHEN OLD.listed = 1 AND (OLD.expires_at IS NULL OR OLD.expires_at > OLD.updated_at) THEN OLD.reader END
    FROM (SELECT 1) LEFT JOIN writing w ON w.org IN (NEW.org, '');
END;

-- How many calls alike a row stands for, in those of denials and of reads; null where each call has its own.
ALTER TABLE audit ADD COLUMN times INTEGER;

CREATE INDEX audit_repeated ON audit (org, key_id, action, at) WHERE times IS NOT NULL;

-- While there is a row, what is older may go. No statement outside the batch of a purge sees one.
CREATE TABLE audit_purge (before INTEGER PRIMARY KEY);

DROP TRIGGER audit_unchanged;

CREATE TRIGGER audit_unchanged BEFORE UPDATE ON audit
  WHEN OLD.times IS NULL OR NEW.times IS NOT OLD.times + 1 OR length(NEW.ids) < length(OLD.ids)
    OR (NEW.org, NEW.seq, NEW.at, NEW.key_id, NEW.agent, NEW.action, NEW.tool, NEW.allowed, NEW.detail)
      IS NOT (OLD.org, OLD.seq, OLD.at, OLD.key_id, OLD.agent, OLD.action, OLD.tool, OLD.allowed, OLD.detail)
BEGIN
  SELECT raise(ABORT, 'commonplace: the audit log is append-only');
END;

DROP TRIGGER audit_kept;

CREATE TRIGGER audit_kept BEFORE DELETE ON audit
  WHEN NOT EXISTS (SELECT 1 FROM audit_purge p WHERE OLD.at < p.before)
BEGIN
  SELECT raise(ABORT, 'commonplace: the audit log is append-only');
END;

INSERT INTO org_usage (org, part, items, bytes)
  SELECT org, 'audit', count(*), sum(length(CAST(ids || detail || action || key_id AS BLOB))) FROM audit GROUP BY org;

CREATE TRIGGER usage_of_audit_gain AFTER INSERT ON audit
BEGIN
  INSERT INTO org_usage (org, part, items, bytes)
    VALUES (NEW.org, 'audit', 1, length(CAST(NEW.ids || NEW.detail || NEW.action || NEW.key_id AS BLOB)))
    ON CONFLICT (org, part) DO UPDATE SET items = items + 1, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER usage_of_audit_change AFTER UPDATE OF ids ON audit WHEN OLD.ids <> NEW.ids
BEGIN
  UPDATE org_usage SET bytes = bytes - length(CAST(OLD.ids AS BLOB)) + length(CAST(NEW.ids AS BLOB))
    WHERE org = NEW.org AND part = 'audit';
END;

CREATE TRIGGER usage_of_audit_loss AFTER DELETE ON audit
BEGIN
  UPDATE org_usage SET items = items - 1, bytes = bytes - length(CAST(OLD.ids || OLD.detail || OLD.action || OLD.key_id AS BLOB))
    WHERE org = OLD.org AND part = 'audit';
END;

-- Of an org that is full the oldest kept states go first.
CREATE INDEX versions_by_org ON entry_versions (org);

-- What was deleted of a thread, for whoever erases the thread.
CREATE INDEX versions_deleted_by_thread ON entry_versions (org, thread_id, entry_id) WHERE deleted = 1;

CREATE INDEX changes_deleted_by_thread ON changes (org, was_thread, entry_id) WHERE action = 'delete' AND erased = 0;

-- What of a thread lists do not show.
CREATE INDEX entries_unlisted ON entries (org, thread_id, id) WHERE listed = 0;
