-- Searching through texts goes by id, newest first, whatever the filter.
CREATE INDEX entries_by_id ON entries (org, id DESC) INCLUDE (expires_at, reader, project) WHERE listed = 1;

-- How long a long text is and where its lines stand (src/domain/reading/marks.ts). A row counts only for the text it was made
-- from; entries without one are short, or are read whole.
CREATE TABLE text_marks (
  entry_id bigint PRIMARY KEY,
  text_hash text COLLATE "C" NOT NULL,
  chars integer NOT NULL,
  lines integer NOT NULL,
  starts text NOT NULL -- JSON list
);

CREATE FUNCTION marks_deleted() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM text_marks WHERE entry_id = OLD.id;
  RETURN NULL;
END $$;

CREATE TRIGGER marks_deleted AFTER DELETE ON entries FOR EACH ROW EXECUTE FUNCTION marks_deleted();
