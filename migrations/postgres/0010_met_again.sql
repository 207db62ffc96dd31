-- Memories that are stored again and problems that are reported again, found by what makes them the same.

-- (The org stands behind: led by it, an index seems the best way to any entry of an org where the planner has no statistics.)
CREATE INDEX entries_by_text ON entries (substr(text_hash, 1, 16), org, layer) WHERE listed = 1;

CREATE INDEX entries_by_problem ON entries (
    (CASE WHEN jsonb_typeof(facts -> 'problem') = 'string' THEN (facts ->> 'problem') COLLATE "C" END), org
  )
  WHERE listed = 1 AND layer = 2
    AND CASE WHEN jsonb_typeof(facts -> 'problem') = 'string' THEN (facts ->> 'problem') COLLATE "C" END IS NOT NULL;

-- What is archived and can be listed.
CREATE INDEX entries_archived ON entries (org, layer, created_at, id, project) WHERE archived = 1 AND diary = 0;
