-- How far the feed of each org was forgotten, and what its cursors are sealed with.

-- The newest row of `changes` that is no longer kept: a cursor before it would miss something.
CREATE TABLE feed_floors (
  org TEXT PRIMARY KEY,
  seq INTEGER NOT NULL
) WITHOUT ROWID;

INSERT INTO settings (name, value) VALUES ('feed_secret', lower(hex(randomblob(32))));
