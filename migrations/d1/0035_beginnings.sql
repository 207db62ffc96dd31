-- Whoever shows or ranks a text looks at its first 60,000 characters, and SQLite reads all of a text to cut them. So the beginning of
-- a text of more than 100,000 stands by itself. Of those that are stored already the schedule makes it. Both numbers are named in
-- src/domain/long-text.ts; PostgreSQL reads the beginning of a text without the rest.

CREATE TABLE text_beginnings (
  org TEXT NOT NULL,
  hash TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (org, hash)
);

CREATE TRIGGER beginnings_kept AFTER INSERT ON long_texts WHEN length(NEW.text) > 100000
BEGIN
  INSERT INTO text_beginnings (org, hash, text) VALUES (NEW.org, NEW.hash, substr(NEW.text, 1, 60000)) ON CONFLICT (org, hash) DO NOTHING;
END;

CREATE TRIGGER beginnings_dropped AFTER DELETE ON long_texts
BEGIN
  DELETE FROM text_beginnings WHERE org = OLD.org AND hash = OLD.hash;
END;

-- Which words are in the index, one row each time that one stands somewhere; read one row at a time, by way of the word.
CREATE VIRTUAL TABLE entries_words USING fts5vocab(entries_fts, instance);
