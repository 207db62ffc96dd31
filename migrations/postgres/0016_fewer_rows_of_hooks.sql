-- What the hooks of a client cost: each use of a tool is an event, so what an event writes is written most often of all.

-- A session's row changes with each event, and what an org holds is kept in bytes: counted in whole kilobytes, it is written anew with some
-- of them.
UPDATE org_usage SET bytes = bytes + (
    SELECT coalesce(sum((octet_length(s.session || s.state) + 1023) / 1024 * 1024 - octet_length(s.session || s.state)), 0)
    FROM capture_sessions s WHERE s.org = org_usage.org
  )
  WHERE part = 'capture';

CREATE OR REPLACE FUNCTION capture_bytes(session capture_sessions) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT (octet_length(session.session || session.state) + 1023) / 1024 * 1024
$$;

CREATE OR REPLACE FUNCTION keep_usage_of_sessions() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN PERFORM use_room(NEW.org, 'capture', 1, capture_bytes(NEW));
  ELSIF TG_OP = 'DELETE' THEN PERFORM use_room(OLD.org, 'capture', -1, -capture_bytes(OLD));
  ELSIF capture_bytes(NEW) <> capture_bytes(OLD) THEN
    PERFORM use_room(NEW.org, 'capture', 0, capture_bytes(NEW) - capture_bytes(OLD));
  END IF;
  RETURN NULL;
END $$;

-- What is old is found by going through these tables once a day, in the order of their keys, instead of by an index that each event writes.
DROP INDEX capture_events_by_time;

DROP INDEX capture_starts_by_time;

DROP INDEX capture_sessions_by_time;

-- What is pinned, for the start of a session, which went through all memories of a project.
CREATE INDEX entries_pinned ON entries (org, project, created_at DESC, id DESC) WHERE listed = 1 AND pinned = 1;
