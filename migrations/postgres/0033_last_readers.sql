-- Who could read a deleted entry by its id, also where lists did not show it: they may have what is left of it erased.
-- Null in rows from before.
ALTER TABLE changes ADD COLUMN last_reader text COLLATE "C";

CREATE OR REPLACE FUNCTION keep_deleted() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  call writing := call_in(OLD.org);
BEGIN
  IF call.keeps = 1 THEN PERFORM keep_last_version(OLD, call); END IF;
  DELETE FROM entry_tags WHERE entry_id = OLD.id;
  DELETE FROM image_uses WHERE entry_id = OLD.id;
  DELETE FROM links WHERE org = OLD.org AND from_id = OLD.id;
  DELETE FROM links WHERE org = OLD.org AND to_id = OLD.id;
  INSERT INTO changes (
      org, entry_id, action, version, at, change_id, key_id, agent,
      thread_id, project, kind, was_thread, was_project, was_kind, was_reader, last_reader
    ) VALUES (
      OLD.org, OLD.id, 'delete', OLD.version + 1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
      call.change_id, call.key_id, call.agent,
      OLD.thread_id, OLD.project, OLD.kind, OLD.thread_id, OLD.project, OLD.kind, shown_to(OLD), OLD.reader
    );
  RETURN NULL;
END $$;
