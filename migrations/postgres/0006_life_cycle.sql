-- What metadata says of an entry's life, and what has happened to it since, stand in columns of their own, so that a write of
-- one never resets the other. `named_…` follows the metadata; `given_…` is set by an argument, `layer_expires_at` by a layer,
-- `archived` by the life cycle. What holds is computed from both: the writer's word before the argument, the earlier end.

DROP INDEX entries_by_time;

DROP INDEX entries_by_thread;

DROP INDEX entries_by_place;

DROP INDEX entries_with_images;

DROP INDEX entries_by_expiry;

ALTER TABLE entries RENAME COLUMN weight TO given_weight;

ALTER TABLE entries RENAME COLUMN pinned TO given_pinned;

ALTER TABLE entries RENAME COLUMN expires_at TO named_expires_at;

ALTER TABLE entries
  ADD COLUMN named_weight integer,
  ADD COLUMN named_pinned integer,
  ADD COLUMN layer_expires_at bigint;

ALTER TABLE entries
  ADD COLUMN weight integer GENERATED ALWAYS AS (coalesce(named_weight, given_weight)) STORED,
  ADD COLUMN pinned integer GENERATED ALWAYS AS (coalesce(named_pinned, given_pinned)) STORED,
  ADD COLUMN expires_at bigint GENERATED ALWAYS AS (least(named_expires_at, layer_expires_at)) STORED;

CREATE INDEX entries_by_time ON entries (org, created_second DESC, id DESC) INCLUDE (expires_at, reader, project)
  WHERE listed = 1;

CREATE INDEX entries_by_thread ON entries (org, thread_id, created_second DESC, id DESC)
  INCLUDE (expires_at, reader, project, source) WHERE listed = 1;

CREATE INDEX entries_by_place ON entries (org, thread_id, id) INCLUDE (expires_at, reader, project) WHERE listed = 1;

CREATE INDEX entries_with_images ON entries (org, created_second DESC, id DESC)
  INCLUDE (expires_at, reader, project, image_count) WHERE listed = 1 AND image_count > 0;

CREATE INDEX entries_by_expiry ON entries (org, expires_at) WHERE expires_at IS NOT NULL;

-- What the schedule removes next, whosever it is.
CREATE INDEX entries_expiring ON entries (expires_at) WHERE expires_at IS NOT NULL;

-- Until now metadata was the only one to set these, so what stands there is the writer's word …
UPDATE entries SET named_weight = given_weight, given_weight = 3
  WHERE jsonb_typeof(facts -> 'weight') = 'number' AND facts -> 'weight' = to_jsonb(given_weight);

UPDATE entries SET named_pinned = given_pinned, given_pinned = 0 WHERE jsonb_typeof(facts -> 'pinned') = 'boolean';

-- … and what the word "archived" hid comes back.
UPDATE entries SET archived = 0 WHERE archived = 1;

-- Who made a link: rewriting those of one origin never touches those of another. A link that several made is several rows.
ALTER TABLE links
  ADD COLUMN origin text COLLATE "C" NOT NULL DEFAULT 'metadata' CHECK (origin IN ('metadata', 'remember', 'system'));

ALTER TABLE links DROP CONSTRAINT links_pkey;

ALTER TABLE links ADD PRIMARY KEY (org, from_id, relation, to_id, origin);

-- The relation is named as the metadata key that makes it.
UPDATE links SET relation = 'references' WHERE relation = 'REFERENCES';

ALTER TABLE entries DISABLE TRIGGER entries_relinked;

UPDATE entries SET links = replace(links, '"REFERENCES"', '"references"') WHERE links LIKE '%"REFERENCES"%';

ALTER TABLE entries ENABLE TRIGGER entries_relinked;

CREATE OR REPLACE FUNCTION link_entry(entry entries) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO links (org, from_id, relation, to_id, origin)
    SELECT entry.org, entry.id, link ->> 0, (link ->> 1)::bigint, 'metadata'
    FROM jsonb_array_elements(entry.links::jsonb) AS link WHERE (link ->> 1)::bigint <> entry.id
    ON CONFLICT DO NOTHING;
END $$;

CREATE OR REPLACE FUNCTION keep_relinked() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM links WHERE org = NEW.org AND from_id = NEW.id AND origin = 'metadata';
  IF NEW.links IS NOT NULL THEN PERFORM link_entry(NEW); END IF;
  RETURN NULL;
END $$;

-- A delete happens when it is done, not when the entry was last changed. Whoever deletes, the database knows the time.
CREATE OR REPLACE FUNCTION keep_deleted() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM entry_tags WHERE entry_id = OLD.id;
  DELETE FROM image_uses WHERE entry_id = OLD.id;
  DELETE FROM links WHERE org = OLD.org AND from_id = OLD.id;
  DELETE FROM links WHERE org = OLD.org AND to_id = OLD.id;
  INSERT INTO changes (org, entry_id, action, version, at)
    VALUES (OLD.org, OLD.id, 'delete', OLD.version + 1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint);
  RETURN NULL;
END $$;
