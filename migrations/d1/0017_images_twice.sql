-- An entry may show the same image twice, and uses it once. `OR IGNORE` does not say so here: within a trigger SQLite goes by the conflict
-- rule of the statement that fires it, which is ABORT where a store that is repeated updates its turn.
DROP TRIGGER entries_reillustrated;

CREATE TRIGGER entries_reillustrated AFTER UPDATE OF images ON entries WHEN OLD.images IS NOT NEW.images
BEGIN
  DELETE FROM image_uses WHERE entry_id = NEW.id;
  INSERT INTO image_uses (org, hash, entry_id, size, mime_type)
    SELECT DISTINCT NEW.org, value ->> 'hash', NEW.id, value ->> 'size', value ->> 'mimeType' FROM json_each(NEW.images);
END;

DROP TRIGGER versions_illustrated;

CREATE TRIGGER versions_illustrated AFTER INSERT ON entry_versions WHEN NEW.images IS NOT NULL
BEGIN
  INSERT INTO image_uses (org, hash, entry_id, size, mime_type)
    SELECT DISTINCT NEW.org, value ->> 'hash', -NEW.id, value ->> 'size', value ->> 'mimeType' FROM json_each(NEW.images);
END;
