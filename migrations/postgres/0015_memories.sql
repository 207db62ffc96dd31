-- What lists of memories walk: the newest of a layer, of one project or of all, with what scope, type and statistics ask.

CREATE INDEX entries_by_layer ON entries (org, layer, created_at DESC, id DESC)
  INCLUDE (project, expires_at, reader, kind, pinned) WHERE listed = 1;

CREATE INDEX entries_of_project ON entries (org, project, layer, created_at DESC, id DESC)
  INCLUDE (expires_at, reader, kind, pinned) WHERE listed = 1;

-- What decay looks at, whosever it is.
CREATE INDEX entries_decaying ON entries (id) WHERE layer = 3 AND archived = 0;
