-- Memories that are stored again and problems that are reported again, found by what makes them the same.

CREATE INDEX entries_by_text ON entries (org, substr(text_hash, 1, 16), layer) WHERE listed = 1;

CREATE INDEX entries_by_problem ON entries (
    org, (CASE WHEN jsonb_typeof(facts -> 'problem') = 'string' THEN (facts ->> 'problem') COLLATE "C" END)
  )
  WHERE listed = 1 AND layer = 2
    AND CASE WHEN jsonb_typeof(facts -> 'problem') = 'string' THEN (facts ->> 'problem') COLLATE "C" END IS NOT NULL;

-- What is archived and can be listed.
CREATE INDEX entries_archived ON entries (org, layer, created_at, id, project) WHERE archived = 1 AND diary = 0;
