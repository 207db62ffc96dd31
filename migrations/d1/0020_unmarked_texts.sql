-- Long entries, in the order of their ids: those that were stored before there were marks get theirs by the schedule
-- (src/adapters/sql/text-marks.ts, which names the same size).
CREATE INDEX entries_long ON entries (id) WHERE bytes > 16384;
