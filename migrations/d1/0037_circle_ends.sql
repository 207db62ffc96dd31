-- When the first or the last entry of a thread leaves, those who read it see the next one, which the triggers of 0002 look up by thread,
-- project and reader. These indexes lead to it, however many entries of others the thread has.

CREATE INDEX entries_of_circle_by_time ON entries (org, thread_id, coalesce(project, ''), reader, created_second) WHERE listed = 1;

CREATE INDEX entries_of_circle_by_id ON entries (org, thread_id, coalesce(project, ''), reader, id) WHERE listed = 1;

-- Summaries are counted since 0029; nothing asks by it any more.
DROP INDEX entries_with_summary;
