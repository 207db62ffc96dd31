-- The newest turn of a thread that a caller sees, by its readers and projects: a repeated store looks it up, and hundreds of thousands of
-- newer entries of others may stand in the same thread.

CREATE INDEX entries_by_reader_turn ON entries (org, thread_id, source, reader, id) WHERE listed = 1;

CREATE INDEX entries_by_circle_turn ON entries (org, thread_id, source, reader, coalesce(project, ''), id) WHERE listed = 1;

DROP INDEX entries_by_turn;
