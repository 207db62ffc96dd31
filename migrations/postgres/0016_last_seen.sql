-- When an owner last asked where it stands, in each project ('' for none), and the newest entry of the org at that time.

CREATE TABLE last_seen (
  org text COLLATE "C" NOT NULL,
  owner text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL,
  seen_at bigint NOT NULL, -- milliseconds since 1970
  last_id bigint NOT NULL,
  PRIMARY KEY (org, owner, project)
);

CREATE INDEX last_seen_by_time ON last_seen (org, owner, seen_at DESC, project DESC);
