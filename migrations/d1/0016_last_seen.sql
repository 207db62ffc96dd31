-- When an owner last asked where it stands, in each project ('' for none), and the newest entry of the org at that time.

CREATE TABLE last_seen (
  org TEXT NOT NULL,
  owner TEXT NOT NULL,
  project TEXT NOT NULL,
  seen_at INTEGER NOT NULL, -- milliseconds since 1970
  last_id INTEGER NOT NULL,
  PRIMARY KEY (org, owner, project)
) WITHOUT ROWID;

CREATE INDEX last_seen_by_time ON last_seen (org, owner, seen_at, project);
