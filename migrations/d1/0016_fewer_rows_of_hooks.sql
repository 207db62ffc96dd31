-- What the hooks of a client cost: each use of a tool is an event, so what an event writes is written most often of all.

-- A session's row changes with each event, and what an org holds is kept in bytes: counted in whole kilobytes, it is written anew with some
-- of them.
DROP TRIGGER capture_sessions_change;

DROP TRIGGER capture_sessions_gain;

DROP TRIGGER capture_sessions_loss;

UPDATE org_usage SET bytes = bytes + (
    SELECT coalesce(sum((octet_length(s.session || s.state) + 1023) / 1024 * 1024 - octet_length(s.session || s.state)), 0)
    FROM capture_sessions s WHERE s.org = org_usage.org
  )
  WHERE part = 'capture';

CREATE TRIGGER capture_sessions_change AFTER UPDATE OF state ON capture_sessions
  WHEN (octet_length(OLD.session || OLD.state) + 1023) / 1024 <> (octet_length(NEW.session || NEW.state) + 1023) / 1024
BEGIN
  UPDATE org_usage SET bytes = bytes + 1024 * (
      (octet_length(NEW.session || NEW.state) + 1023) / 1024 - (octet_length(OLD.session || OLD.state) + 1023) / 1024
    )
    WHERE org = NEW.org AND part = 'capture';
END;

CREATE TRIGGER capture_sessions_gain AFTER INSERT ON capture_sessions
BEGIN
  INSERT INTO org_usage (org, part, items, bytes)
    VALUES (NEW.org, 'capture', 1, (octet_length(NEW.session || NEW.state) + 1023) / 1024 * 1024)
    ON CONFLICT (org, part) DO UPDATE SET items = items + 1, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER capture_sessions_loss AFTER DELETE ON capture_sessions
BEGIN
  UPDATE org_usage SET items = items - 1, bytes = bytes - (octet_length(OLD.session || OLD.state) + 1023) / 1024 * 1024
    WHERE org = OLD.org AND part = 'capture';
END;

-- What is old is found by going through these tables once a day, in the order of their keys, instead of by an index that each event writes.
DROP INDEX capture_events_by_time;

DROP INDEX capture_starts_by_time;

DROP INDEX capture_sessions_by_time;

-- What is pinned, for the start of a session, which went through all memories of a project.
CREATE INDEX entries_pinned ON entries (org, project, created_at, id) WHERE listed = 1 AND pinned = 1;
