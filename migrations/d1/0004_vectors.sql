-- Vectors beside the entry: the truth, from which every vector index is rebuilt. One row a chunk of text.

CREATE TABLE entry_vectors (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused: a text that changes gets new rows
  org TEXT NOT NULL,
  entry_id INTEGER NOT NULL,
  model TEXT NOT NULL, -- model and dimensions, as in domain/vector.ts
  chunk INTEGER NOT NULL,
  start INTEGER NOT NULL, -- code points of the text from which the vector was made
  length INTEGER NOT NULL,
  data TEXT NOT NULL, -- scale and int8 values as text; never BLOB, which D1 returns as arrays of numbers
  UNIQUE (entry_id, model, chunk)
);

CREATE INDEX entry_vectors_by_org ON entry_vectors (org, model, id);

-- Vectors that are gone, for indexes that have not heard of it yet.
CREATE TABLE vector_removals (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  org TEXT NOT NULL,
  vector_id INTEGER NOT NULL
);

CREATE INDEX vector_removals_by_org ON vector_removals (org, id);

CREATE TRIGGER vectors_added AFTER INSERT ON entry_vectors
BEGIN
  INSERT INTO outbox (org, topic, key, created_at, due_at) VALUES (NEW.org, 'vector_sync', NEW.model, unixepoch() * 1000, 0)
    ON CONFLICT (org, topic, key) DO UPDATE SET state = 'pending', due_at = 0;
END;

CREATE TRIGGER vectors_removed AFTER DELETE ON entry_vectors
BEGIN
  INSERT INTO vector_removals (org, vector_id) VALUES (OLD.org, OLD.id);
  INSERT INTO outbox (org, topic, key, created_at, due_at) VALUES (OLD.org, 'vector_sync', OLD.model, unixepoch() * 1000, 0)
    ON CONFLICT (org, topic, key) DO UPDATE SET state = 'pending', due_at = 0;
END;

CREATE TRIGGER entries_unvectored AFTER DELETE ON entries
BEGIN
  DELETE FROM entry_vectors WHERE entry_id = OLD.id;
END;
