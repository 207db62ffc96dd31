-- Who may ask, and what was done: orgs, projects, keys and the audit log. The twin of D1's file of this name.

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
  PRIMARY KEY (org, seq)
);

CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'commonplace: the audit log is append-only';
END $$;

CREATE TRIGGER audit_unchanged BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();

CREATE TRIGGER audit_kept BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
