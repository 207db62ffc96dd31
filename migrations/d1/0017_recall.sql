-- The index now holds code blocks and file paths of metadata, and what belongs to the whole org. A database with entries whose
-- index nobody has described yet says that it was written before, so that the schedule writes it anew.
INSERT INTO settings (name, value) SELECT 'full_text', '{"analysis":"english/4","upTo":null}' WHERE EXISTS (SELECT 1 FROM entries) ON CONFLICT (name) DO NOTHING;

-- As in 0015, with the words that statistics of a project add up.
DROP INDEX entries_by_layer;

DROP INDEX entries_of_project;

CREATE INDEX entries_by_layer ON entries (org, layer, created_at, id, project, expires_at, reader, kind, pinned, text_words)
  WHERE listed = 1;

CREATE INDEX entries_of_project ON entries (org, project, layer, created_at, id, expires_at, reader, kind, pinned, text_words)
  WHERE listed = 1;
