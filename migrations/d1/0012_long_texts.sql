-- Searching through texts goes by id, newest first, whatever the filter.
CREATE INDEX entries_by_id ON entries (org, id, expires_at, reader, project) WHERE listed = 1;

-- How long a long text is and where its lines stand (src/domain/reading/marks.ts). A row counts only for the text it was made
-- from; entries without one are short, or are read whole.
CREATE TABLE text_marks (
  entry_id INTEGER PRIMARY KEY,
  text_hash TEXT NOT NULL,
  chars INTEGER NOT NULL,
  lines INTEGER NOT NULL,
  starts TEXT NOT NULL -- JSON list
);

CREATE TRIGGER marks_deleted AFTER DELETE ON entries
BEGIN
  DELETE FROM text_marks WHERE entry_id = OLD.id;
END;
