-- What a write costs. PostgreSQL counts once a statement and pays for no row of a counter or index by itself, so of what D1 changes here only
-- one thing is of use: lists of memories show no count of words, so a changed text leaves their indexes alone.
DROP INDEX entries_by_layer;

CREATE INDEX entries_by_layer ON entries (org, layer, created_at DESC, id DESC)
  INCLUDE (project, expires_at, reader, kind, pinned) WHERE listed = 1;

DROP INDEX entries_of_project;

CREATE INDEX entries_of_project ON entries (org, project, layer, created_at DESC, id DESC)
  INCLUDE (expires_at, reader, kind, pinned) WHERE listed = 1;
