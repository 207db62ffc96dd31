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

CREATE INDEX api_keys_by_maker ON api_keys (org, created_by);

-- Owners are names that last: whoever is given one that nobody has or had is given nobody's private entries with it.
CREATE TABLE owners (
  org TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (org, name)
) WITHOUT ROWID;

-- When an owner last asked where it stands, in each project ('' for none), and the newest entry of the org at that time.
CREATE TABLE last_seen (
  org TEXT NOT NULL,
  owner TEXT NOT NULL,
  agent TEXT NOT NULL, -- '' for a key without one
  project TEXT NOT NULL,
  session TEXT NOT NULL, -- '' for a call without one
  seen_at INTEGER NOT NULL, -- milliseconds since 1970
  last_id INTEGER NOT NULL,
  PRIMARY KEY (org, owner, agent, project, session)
) WITHOUT ROWID;

CREATE INDEX last_seen_by_time ON last_seen (org, owner, seen_at);
CREATE INDEX last_seen_newest ON last_seen (org, owner, agent, project, seen_at);

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
  times INTEGER, -- how many calls alike a row stands for, in those of denials and of reads; null where each call has its own
  PRIMARY KEY (org, seq)
) WITHOUT ROWID;

CREATE INDEX audit_repeated ON audit (org, key_id, action, at) WHERE times IS NOT NULL;

-- While there is a row, what is older may go. No statement outside the transaction of a purge sees one.
CREATE TABLE audit_purge (before INTEGER PRIMARY KEY);

-- Nothing of it changes, but for rows that stand for calls alike: they count one more.
CREATE TRIGGER audit_unchanged BEFORE UPDATE ON audit
  WHEN OLD.times IS NULL OR NEW.times IS NOT OLD.times + 1 OR length(NEW.ids) < length(OLD.ids)
    OR (NEW.org, NEW.seq, NEW.at, NEW.key_id, NEW.agent, NEW.action, NEW.tool, NEW.allowed, NEW.detail)
      IS NOT (OLD.org, OLD.seq, OLD.at, OLD.key_id, OLD.agent, OLD.action, OLD.tool, OLD.allowed, OLD.detail)
BEGIN
  SELECT raise(ABORT, 'commonplace: the audit log is append-only');
END;

CREATE TRIGGER audit_kept BEFORE DELETE ON audit
  WHEN NOT EXISTS (SELECT 1 FROM audit_purge p WHERE OLD.at < p.before)
BEGIN
  SELECT raise(ABORT, 'commonplace: the audit log is append-only');
END;

-- INSERT OR REPLACE would delete a row without asking the trigger above.
CREATE TRIGGER audit_added BEFORE INSERT ON audit
  WHEN EXISTS (SELECT 1 FROM audit WHERE org = NEW.org AND seq = NEW.seq)
BEGIN
  SELECT raise(ABORT, 'commonplace: the audit log is append-only');
END;

-- It counts among the bytes of its org (0008).
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
