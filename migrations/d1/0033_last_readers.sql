-- Who could read a deleted entry by its id, also where lists did not show it: they may have what is left of it erased.
-- Null in rows from before.
ALTER TABLE changes ADD COLUMN last_reader TEXT;

DROP TRIGGER entries_deleted;

CREATE TRIGGER entries_deleted AFTER DELETE ON entries
BEGIN
  DELETE FROM entry_tags WHERE entry_id = OLD.id;
  DELETE FROM image_uses WHERE entry_id = OLD.id;
  DELETE FROM links WHERE org = OLD.org AND from_id = OLD.id;
  DELETE FROM links WHERE org = OLD.org AND to_id = OLD.id;
  INSERT INTO changes (
      org, entry_id, action, version, at, change_id, key_id, agent,
      thread_id, project, kind, was_thread, was_project, was_kind, was_reader, last_reader
    )
    SELECT OLD.org, OLD.id, 'delete', OLD.version + 1, CAST(unixepoch('subsec') * 1000 AS INTEGER),
      coalesce(w.change_id, lower(hex(randomblob(16)))), w.key_id, w.agent,
      OLD.thread_id, OLD.project, OLD.kind, OLD.thread_id, OLD.project, OLD.kind,
      CASE WHEN OLD.listed = 1 AND (OLD.expires_at IS NULL OR OLD.expires_at > OLD.updated_at) THEN OLD.reader END,
      OLD.reader
    FROM (SELECT 1) LEFT JOIN writing w ON w.org IN (OLD.org, '');
END;
