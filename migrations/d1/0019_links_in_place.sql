DROP TRIGGER entries_relinked;

-- As in 0018_makers_of_links.sql; what is still named is looked up by one value, since for a pair that is not in a list SQLite reads all of it.
CREATE TRIGGER entries_relinked AFTER UPDATE OF links ON entries WHEN OLD.links IS NOT NEW.links
BEGIN
  DELETE FROM links WHERE org = NEW.org AND from_id = NEW.id AND origin = 'metadata'
    AND relation || ' ' || to_id NOT IN (SELECT (value ->> 0) || ' ' || (value ->> 1) FROM json_each(NEW.links));
  INSERT INTO links (org, from_id, relation, to_id, origin, made_by)
    SELECT DISTINCT NEW.org, NEW.id, value ->> 0, value ->> 1, 'metadata', coalesce(NEW.changed_by, NEW.created_by, '')
    FROM json_each(NEW.links)
    WHERE value ->> 1 <> NEW.id AND NOT EXISTS (
      SELECT 1 FROM links stands WHERE stands.org = NEW.org AND stands.from_id = NEW.id AND stands.relation = value ->> 0
        AND stands.to_id = value ->> 1 AND stands.origin = 'metadata'
    );
END;
