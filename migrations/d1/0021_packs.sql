-- What a pack looks for beside words and meaning: work in flight of a project, and the diary of an agent.

CREATE INDEX entries_in_flight ON entries (org, project, updated_at, id, kind, expires_at, reader)
  WHERE listed = 1 AND status IN ('doing', 'blocked', 'review');

-- Names of agents may be long; their beginnings lead near enough.
CREATE INDEX entries_of_diary ON entries (org, reader, substr(agent, 1, 64), created_at, id)
  WHERE diary = 1 AND archived = 0;

-- A write that names links happens only when all of their targets can be read.
CREATE TRIGGER guards_check_related INSTEAD OF INSERT ON guards WHEN NEW.holds IS NOT 1 AND NEW.premise = 'related_to'
BEGIN
  SELECT raise(ABORT, 'commonplace: premise no longer holds: related_to');
END;
