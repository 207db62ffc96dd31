-- Which index leads to rows must not depend on what a planner knows of the tables (src/README.md, "No plan needs statistics").

-- An entry belongs to one org: what links to it is found by its id alone.
DROP INDEX links_by_target;

CREATE INDEX links_by_target ON links (to_id, org, relation);

-- So are its changes. Those of an org, in the order of commits, have the one index that begins with the org.
DROP INDEX changes_by_entry;

CREATE INDEX changes_by_entry ON changes (entry_id, org);
