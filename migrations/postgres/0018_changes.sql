-- Who changed what, in which call, and who may learn of it: what the change feed and history read.

-- Who writes in an org, which triggers cannot know. A batch that writes entries puts its row here first and takes it away last,
-- so that none outlives it. The org '' stands for work on all orgs, which is nobody's call.
CREATE TABLE writing (
  org text COLLATE "C" PRIMARY KEY,
  change_id text COLLATE "C" NOT NULL, -- random; one a call, shared by all it does
  key_id text COLLATE "C",
  agent text COLLATE "C",
  keeps integer NOT NULL DEFAULT 0, -- whether the states before are kept
  since bigint NOT NULL -- the newest row of the org's `changes` before the batch
);

-- Who made the version that stands there, and whether a restoration did; null for versions from before there was history.
ALTER TABLE entries
  ADD COLUMN changed_by text COLLATE "C",
  ADD COLUMN changed_agent text COLLATE "C",
  ADD COLUMN restored integer NOT NULL DEFAULT 0;

ALTER TABLE changes
  ADD COLUMN change_id text COLLATE "C", -- null in rows from before
  ADD COLUMN key_id text COLLATE "C",
  ADD COLUMN agent text COLLATE "C",
  -- After the change; of a deleted entry, as it was. The reader is null where lists do not show it.
  ADD COLUMN thread_id text COLLATE "C",
  ADD COLUMN project text COLLATE "C",
  ADD COLUMN kind text COLLATE "C",
  ADD COLUMN reader text COLLATE "C",
  -- Before it; null where nothing was.
  ADD COLUMN was_thread text COLLATE "C",
  ADD COLUMN was_project text COLLATE "C",
  ADD COLUMN was_kind text COLLATE "C",
  ADD COLUMN was_reader text COLLATE "C",
  ADD COLUMN erased integer NOT NULL DEFAULT 0;

CREATE INDEX changes_by_entry ON changes (org, entry_id);

-- Whom lists show an entry to: '' for everyone, an owner, or null for nobody.
CREATE FUNCTION shown_to(entry entries) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN entry.listed = 1 AND (entry.expires_at IS NULL OR entry.expires_at > entry.updated_at) THEN entry.reader END
$$;

-- The call that a row of `changes` belongs to.
CREATE FUNCTION call_in(of_org text) RETURNS writing LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  call writing;
BEGIN
  SELECT * INTO call FROM writing w WHERE w.org IN (of_org, '');
  call.change_id := coalesce(call.change_id, replace(gen_random_uuid()::text, '-', ''));
  RETURN call;
END $$;

CREATE OR REPLACE FUNCTION keep_stored() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  call writing := call_in(NEW.org);
BEGIN
  PERFORM tag_entry(NEW);
  IF NEW.images IS NOT NULL THEN PERFORM illustrate_entry(NEW); END IF;
  IF NEW.links IS NOT NULL THEN PERFORM link_entry(NEW); END IF;
  INSERT INTO changes (org, entry_id, action, version, at, change_id, key_id, agent, thread_id, project, kind, reader)
    VALUES (
      NEW.org, NEW.id, 'store', NEW.version, NEW.updated_at, call.change_id, NEW.changed_by, NEW.changed_agent,
      NEW.thread_id, NEW.project, NEW.kind, shown_to(NEW)
    );
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION keep_changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  call writing := call_in(NEW.org);
BEGIN
  INSERT INTO changes (
      org, entry_id, action, version, at, change_id, key_id, agent,
      thread_id, project, kind, reader, was_thread, was_project, was_kind, was_reader
    ) VALUES (
      NEW.org, NEW.id, 'update', NEW.version, NEW.updated_at, call.change_id, NEW.changed_by, NEW.changed_agent,
      NEW.thread_id, NEW.project, NEW.kind, shown_to(NEW), OLD.thread_id, OLD.project, OLD.kind, shown_to(OLD)
    );
  RETURN NULL;
END $$;

-- The life cycle archives and brings back without a new version; lists lose or gain the entry nevertheless.
CREATE FUNCTION keep_archived() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  call writing := call_in(NEW.org);
BEGIN
  INSERT INTO changes (
      org, entry_id, action, version, at, change_id, key_id, agent,
      thread_id, project, kind, reader, was_thread, was_project, was_kind, was_reader
    ) VALUES (
      NEW.org, NEW.id, 'update', NEW.version, (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
      call.change_id, call.key_id, call.agent,
      NEW.thread_id, NEW.project, NEW.kind, shown_to(NEW), OLD.thread_id, OLD.project, OLD.kind, shown_to(OLD)
    );
  RETURN NULL;
END $$;

CREATE TRIGGER entries_archived AFTER UPDATE OF archived ON entries FOR EACH ROW
  WHEN (OLD.archived <> NEW.archived AND OLD.version = NEW.version) EXECUTE FUNCTION keep_archived();

CREATE OR REPLACE FUNCTION keep_deleted() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  call writing := call_in(OLD.org);
BEGIN
  DELETE FROM entry_tags WHERE entry_id = OLD.id;
  DELETE FROM image_uses WHERE entry_id = OLD.id;
  DELETE FROM links WHERE org = OLD.org AND from_id = OLD.id;
  DELETE FROM links WHERE org = OLD.org AND to_id = OLD.id;
  INSERT INTO changes (
      org, entry_id, action, version, at, change_id, key_id, agent,
      thread_id, project, kind, was_thread, was_project, was_kind, was_reader
    ) VALUES (
      OLD.org, OLD.id, 'delete', OLD.version + 1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
      call.change_id, call.key_id, call.agent,
      OLD.thread_id, OLD.project, OLD.kind, OLD.thread_id, OLD.project, OLD.kind, shown_to(OLD)
    );
  RETURN NULL;
END $$;
