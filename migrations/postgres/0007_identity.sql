-- Who may ask, and what was done: orgs, projects, keys and the audit log.

CREATE TABLE orgs (
  id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  created_at bigint NOT NULL -- milliseconds since 1970
);

-- Projects that were named by an administrator; others exist from their first entry on.
CREATE TABLE projects (
  org text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (org, id)
);

CREATE TABLE api_keys (
  id text COLLATE "C" PRIMARY KEY,
  org text COLLATE "C" NOT NULL,
  name text NOT NULL,
  hash text COLLATE "C" NOT NULL UNIQUE, -- SHA-256 of the key, hexadecimal; the key itself is nowhere
  role text NOT NULL CHECK (role IN ('reader', 'writer', 'admin')),
  projects text, -- JSON list, null when not narrowed
  agent text,
  owner text NOT NULL,
  created_at bigint NOT NULL,
  created_by text NOT NULL,
  expires_at bigint,
  revoked_at bigint,
  last_used_at bigint
);

CREATE INDEX api_keys_by_org ON api_keys (org, created_at, id);

CREATE INDEX api_keys_by_maker ON api_keys (org, created_by);

-- Owners are names that last: whoever is given one that nobody has or had is given nobody's private entries with it.
CREATE TABLE owners (
  org text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  PRIMARY KEY (org, name)
);

-- When an owner last asked where it stands, in each project ('' for none), and the newest entry of the org at that time.
CREATE TABLE last_seen (
  org text COLLATE "C" NOT NULL,
  owner text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL, -- '' for a key without one
  project text COLLATE "C" NOT NULL,
  session text COLLATE "C" NOT NULL, -- '' for a call without one
  seen_at bigint NOT NULL, -- milliseconds since 1970
  last_id bigint NOT NULL,
  PRIMARY KEY (org, owner, agent, project, session)
);

CREATE INDEX last_seen_by_time ON last_seen (org, owner, seen_at DESC);
CREATE INDEX last_seen_newest ON last_seen (org, owner, agent, project, seen_at DESC);

-- Numbered in each org by itself, so that the numbers tell nothing about other orgs.
CREATE TABLE audit (
  org text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  at bigint NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  agent text,
  action text NOT NULL,
  tool text,
  ids text NOT NULL, -- JSON list of entry ids
  allowed integer NOT NULL CHECK (allowed IN (0, 1)),
  detail text NOT NULL, -- JSON object of counts and codes, never text
  times bigint, -- how many calls alike a row stands for, in those of denials and of reads; null where each call has its own
  PRIMARY KEY (org, seq)
);

CREATE INDEX audit_repeated ON audit (org, key_id, action, at) WHERE times IS NOT NULL;

-- While there is a row, what is older may go. No statement outside the transaction of a purge sees one.
CREATE TABLE audit_purge (before bigint PRIMARY KEY);

-- Nothing of it changes, but for rows that stand for calls alike: they count one more. Nothing goes, but by a purge.
CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF NEW.times = OLD.times + 1 AND length(NEW.ids) >= length(OLD.ids)
      AND (NEW.org, NEW.seq, NEW.at, NEW.key_id, NEW.agent, NEW.action, NEW.tool, NEW.allowed, NEW.detail)
        IS NOT DISTINCT FROM (OLD.org, OLD.seq, OLD.at, OLD.key_id, OLD.agent, OLD.action, OLD.tool, OLD.allowed, OLD.detail)
    THEN RETURN NEW; END IF;
  ELSIF TG_OP = 'DELETE' THEN
    IF EXISTS (SELECT 1 FROM audit_purge p WHERE OLD.at < p.before) THEN RETURN OLD; END IF;
  END IF;
  RAISE EXCEPTION 'commonplace: the audit log is append-only';
END $$;

CREATE TRIGGER audit_unchanged BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();

CREATE TRIGGER audit_kept BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

-- It counts among the bytes of its org (0008).
CREATE FUNCTION keep_usage_of_audit() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM use_room(NEW.org, 'audit', 1, octet_length(NEW.ids || NEW.detail || NEW.action || NEW.key_id));
  ELSE PERFORM use_room(NEW.org, 'audit', 0, octet_length(NEW.ids) - octet_length(OLD.ids));
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER usage_of_audit AFTER INSERT OR UPDATE OF ids ON audit FOR EACH ROW EXECUTE FUNCTION keep_usage_of_audit();

CREATE FUNCTION keep_usage_of_purged_audit() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM use_room(of_org.org, 'audit', -of_org.items, -of_org.bytes)
    FROM (
      SELECT org, count(*) AS items, sum(octet_length(ids || detail || action || key_id)) AS bytes
      FROM moved GROUP BY org ORDER BY org
    ) AS of_org;
  RETURN NULL;
END $$;

CREATE TRIGGER usage_of_purged_audit AFTER DELETE ON audit REFERENCING OLD TABLE AS moved
  FOR EACH STATEMENT EXECUTE FUNCTION keep_usage_of_purged_audit();
