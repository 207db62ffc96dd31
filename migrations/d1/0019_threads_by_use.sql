-- What the list of threads as resources walks: the last used first, with what scope asks.

CREATE INDEX thread_counters_by_use ON thread_counters (org, last_second, last_id, reader, project);
