-- How far the feed of each org was forgotten, and what its cursors are sealed with.

-- The newest row of `changes` that is no longer kept: a cursor before it would miss something.
CREATE TABLE feed_floors (
  org text COLLATE "C" PRIMARY KEY,
  seq bigint NOT NULL
);

-- Two random UUIDs, since only an extension has more random bytes at once.
INSERT INTO settings (name, value) VALUES ('feed_secret', replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''));
