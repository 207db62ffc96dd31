-- Who may ask, and what was done: orgs, projects, keys and the audit log.

CREATE TABLE orgs (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL -- milliseconds since 1970
) WITHOUT ROWID;

-- Projects that were named by an administrator; others exist from their first entry on.
CREATE TABLE projects (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (org, id)
) WITHOUT ROWID;

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  org TEXT NOT NULL,
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE, -- SHA-256 of the key, hexadecimal; the key itself is nowhere
  role TEXT NOT NULL CHECK (role IN ('reader', 'writer', 'admin')),
  projects TEXT, -- JSON list, null when not narrowed
  agent TEXT,
  owner TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  last_used_at INTEGER
) WITHOUT ROWID;

CREATE INDEX api_keys_by_org ON api_keys (org, created_at, id);

-- Numbered in each org by itself, so that the numbers tell nothing about other orgs.
CREATE TABLE audit (
  org TEXT NOT NULL,
  seq INTEGER NOT NULL,
  at INTEGER NOT NULL,
  key_id TEXT NOT NULL,
  agent TEXT,
  action TEXT NOT NULL,
  tool TEXT,
  ids TEXT NOT NULL, -- JSON list of entry ids
  allowed INTEGER NOT NULL CHECK (allowed IN (0, 1)),
  detail TEXT NOT NULL, -- JSON object of counts and codes, never text
  PRIMARY KEY (org, seq)
) WITHOUT ROWID;

CREATE TRIGGER audit_unchanged BEFORE UPDATE ON audit
BEGIN
  SELECT raise(ABORT, 'commonplace: the audit log is append-only');
END;

CREATE TRIGGER audit_kept BEFORE DELETE ON audit
BEGIN
  SELECT raise(ABORT, 'commonplace: the audit log is append-only');
END;

-- INSERT OR REPLACE would delete a row without asking the trigger above.
CREATE TRIGGER audit_added BEFORE INSERT ON audit
  WHEN EXISTS (SELECT 1 FROM audit WHERE org = NEW.org AND seq = NEW.seq)
BEGIN
  SELECT raise(ABORT, 'commonplace: the audit log is append-only');
END;

-- Terms of private entries name their org from now on: an index that was written before is written anew.
INSERT INTO settings (name, value) SELECT 'full_text', '{"analysis":"english/1","upTo":null}' WHERE EXISTS (SELECT 1 FROM entries)
  ON CONFLICT (name) DO NOTHING;
