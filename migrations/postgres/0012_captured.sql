-- What the hooks of clients capture (docs/contracts/capture.md): sessions that are gathered, the entries they become, and keys that
-- capture nothing.

-- Written by hooks, and kept by nobody yet. Such an entry is archived too, so that whatever asks for what is listed leaves it out.
ALTER TABLE entries ADD COLUMN captured integer NOT NULL DEFAULT 0;

-- By the session's thread, and the newest of a project.
CREATE INDEX entries_captured_by_thread ON entries (org, thread_id, id) WHERE captured = 1;

CREATE INDEX entries_captured_by_project ON entries (org, project, updated_at, id) WHERE captured = 1;

DROP INDEX entries_archived;

CREATE INDEX entries_archived ON entries (org, layer, created_at, id, project) WHERE archived = 1 AND diary = 0 AND captured = 0;

ALTER TABLE api_keys ADD COLUMN captures integer NOT NULL DEFAULT 1;

-- What was gathered of a session, by the owner whose it is.
CREATE TABLE capture_sessions (
  org text COLLATE "C" NOT NULL,
  owner text COLLATE "C" NOT NULL,
  session text COLLATE "C" NOT NULL, -- '<client>:<id>', as its thread is named
  revision integer NOT NULL, -- + 1 with each request, so that of two at once one is first
  project text COLLATE "C" NOT NULL, -- '' for none
  key_id text NOT NULL, -- that the last of it arrived with
  agent text,
  state text NOT NULL, -- JSON of domain/capture/gathered.ts
  written text, -- JSON: what the last checkpoint wrote, when, and as which entry
  entry_id bigint, -- that it became
  seen_at bigint NOT NULL, -- when something last arrived
  claimed_at bigint, -- when somebody began to write it
  due_at bigint, -- when the schedule writes it; null when nothing is left to be written
  PRIMARY KEY (org, owner, session)
);

CREATE INDEX capture_sessions_due ON capture_sessions (due_at) WHERE due_at IS NOT NULL;

CREATE INDEX capture_sessions_by_entry ON capture_sessions (org, entry_id) WHERE entry_id IS NOT NULL;

CREATE INDEX capture_sessions_by_time ON capture_sessions (seen_at);

-- Events that have arrived, with what was answered.
CREATE TABLE capture_events (
  org text COLLATE "C" NOT NULL,
  owner text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  output text, -- the text that was recalled; null for none
  PRIMARY KEY (org, owner, id)
);

CREATE INDEX capture_events_by_time ON capture_events (at);

-- What was recalled holds words of entries, which may be erased.
CREATE INDEX capture_events_told ON capture_events (org) WHERE output IS NOT NULL;

-- What an owner's sessions of a project and branch were last told at their start.
CREATE TABLE capture_starts (
  org text COLLATE "C" NOT NULL,
  owner text COLLATE "C" NOT NULL,
  place text COLLATE "C" NOT NULL, -- project and branch, as JSON
  digest text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  PRIMARY KEY (org, owner, place)
);

CREATE INDEX capture_starts_by_time ON capture_starts (at);

-- They count among the bytes of their org (0008).
CREATE FUNCTION capture_bytes(session capture_sessions) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT octet_length(session.session || session.state)
$$;

CREATE FUNCTION keep_usage_of_sessions() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN PERFORM use_room(NEW.org, 'capture', 1, capture_bytes(NEW));
  ELSIF TG_OP = 'DELETE' THEN PERFORM use_room(OLD.org, 'capture', -1, -capture_bytes(OLD));
  ELSE PERFORM use_room(NEW.org, 'capture', 0, capture_bytes(NEW) - capture_bytes(OLD));
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER usage_of_sessions AFTER INSERT OR DELETE OR UPDATE OF state ON capture_sessions
  FOR EACH ROW EXECUTE FUNCTION keep_usage_of_sessions();

CREATE FUNCTION keep_usage_of_events() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN PERFORM use_room(NEW.org, 'capture', 1, octet_length(NEW.id || coalesce(NEW.output, '')));
  ELSIF TG_OP = 'DELETE' THEN PERFORM use_room(OLD.org, 'capture', -1, -octet_length(OLD.id || coalesce(OLD.output, '')));
  ELSE PERFORM use_room(NEW.org, 'capture', 0, octet_length(coalesce(NEW.output, '')) - octet_length(coalesce(OLD.output, '')));
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER usage_of_events AFTER INSERT OR DELETE OR UPDATE OF output ON capture_events
  FOR EACH ROW EXECUTE FUNCTION keep_usage_of_events();

-- The feed tells of captured entries too, to whoever may read them.
CREATE OR REPLACE FUNCTION shown_to(entry entries) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN (entry.listed = 1 OR entry.captured = 1) AND (entry.expires_at IS NULL OR entry.expires_at > entry.updated_at)
    THEN entry.reader END
$$;
