-- Who made a link: the key that wrote the change which named it, '' for none. NULL where it is not known: links of before this file, and
-- those that an import or an undone deletion brought. Whether an entry takes the place of another for everybody goes by it, since
-- whoever changes the entry later has not made its links.
ALTER TABLE links ADD COLUMN made_by text COLLATE "C";

CREATE OR REPLACE FUNCTION link_entry(entry entries) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO links (org, from_id, relation, to_id, origin, made_by)
    SELECT entry.org, entry.id, link ->> 0, (link ->> 1)::bigint, 'metadata', coalesce(entry.changed_by, entry.created_by, '')
    FROM jsonb_array_elements(entry.links::jsonb) AS link WHERE (link ->> 1)::bigint <> entry.id
    ON CONFLICT DO NOTHING;
END $$;

-- A link that is still named stays as it is.
CREATE OR REPLACE FUNCTION keep_relinked() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM links l WHERE l.org = NEW.org AND l.from_id = NEW.id AND l.origin = 'metadata'
    AND (l.relation, l.to_id) NOT IN (
      SELECT link ->> 0, (link ->> 1)::bigint FROM jsonb_array_elements(NEW.links::jsonb) AS link
    );
  IF NEW.links IS NOT NULL THEN PERFORM link_entry(NEW); END IF;
  RETURN NULL;
END $$;
