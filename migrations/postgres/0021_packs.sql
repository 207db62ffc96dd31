-- What a pack looks for beside words and meaning: work in flight of a project, and the diary of an agent.

CREATE INDEX entries_in_flight ON entries (org, project, updated_at DESC, id DESC) INCLUDE (kind, expires_at, reader)
  WHERE listed = 1 AND status IN ('doing', 'blocked', 'review');

-- Names of agents may be long; their beginnings lead near enough.
CREATE INDEX entries_of_diary ON entries (org, reader, substr(agent, 1, 64), created_at DESC, id DESC)
  WHERE diary = 1 AND archived = 0;
