-- Memories that are stored again and problems that are reported again, found by what makes them the same.

CREATE INDEX entries_by_text ON entries (org, substr(text_hash, 1, 16), layer) WHERE listed = 1;

CREATE INDEX entries_by_problem ON entries (
    org, CASE WHEN json_type(metadata, '$."problem"') = 'text' THEN json_extract(metadata, '$."problem"') END
  )
  WHERE listed = 1 AND layer = 2
    AND CASE WHEN json_type(metadata, '$."problem"') = 'text' THEN json_extract(metadata, '$."problem"') END IS NOT NULL;

-- A store of memories happens only where no equal one stands.
CREATE TRIGGER guards_check_equal INSTEAD OF INSERT ON guards WHEN NEW.holds IS NOT 1 AND NEW.premise = 'equal'
BEGIN
  SELECT raise(ABORT, 'commonplace: premise no longer holds: equal');
END;

-- What is archived and can be listed.
CREATE INDEX entries_archived ON entries (org, layer, created_at, id, project) WHERE archived = 1 AND diary = 0;
