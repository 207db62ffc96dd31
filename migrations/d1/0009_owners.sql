-- Owners are names that last: whoever is given one that nobody has or had is given nobody's private entries with it.

CREATE TABLE owners (
  org TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (org, name)
) WITHOUT ROWID;

INSERT INTO owners (org, name) SELECT DISTINCT org, owner FROM api_keys WHERE owner IS NOT NULL ON CONFLICT DO NOTHING;

INSERT INTO owners (org, name) SELECT DISTINCT org, owner FROM entries WHERE owner IS NOT NULL ON CONFLICT DO NOTHING;

CREATE INDEX api_keys_by_maker ON api_keys (org, created_by);
