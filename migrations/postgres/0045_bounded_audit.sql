-- What becomes of the audit log, and when things happened: rows go after their days, count among the bytes of their org, and stand for
-- several calls alike; a deletion has one instant, in the feed and in history. The twin of D1's file of this name.

CREATE OR REPLACE FUNCTION keep_deleted() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  call writing := call_in(OLD.org);
BEGIN
  IF call.keeps = 1 THEN PERFORM keep_last_version(OLD, call); END IF;
  DELETE FROM entry_tags WHERE entry_id = OLD.id;
  DELETE FROM image_uses WHERE entry_id = OLD.id;
  DELETE FROM links WHERE org = OLD.org AND from_id = OLD.id;
  INSERT INTO dangling_links (entry_id, org)
    SELECT OLD.id, OLD.org
    WHERE EXISTS (SELECT 1 FROM links l WHERE l.to_id = OLD.id)
      AND NOT EXISTS (SELECT 1 FROM entry_versions v WHERE v.entry_id = OLD.id)
    ON CONFLICT DO NOTHING;
  INSERT INTO changes (
      org, entry_id, action, version, at, change_id, key_id, agent,
      thread_id, project, kind, was_thread, was_project, was_kind, was_reader, last_reader
    ) VALUES (
      OLD.org, OLD.id, 'delete', OLD.version + 1, coalesce(call.at, (extract(epoch FROM clock_timestamp()) * 1000)::bigint),
      call.change_id, call.key_id, call.agent,
      OLD.thread_id, OLD.project, OLD.kind, OLD.thread_id, OLD.project, OLD.kind, shown_to(OLD), OLD.reader
    );
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION keep_archived() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  call writing := call_in(NEW.org);
BEGIN
  INSERT INTO changes (
      org, entry_id, action, version, at, change_id, key_id, agent,
      thread_id, project, kind, reader, was_thread, was_project, was_kind, was_reader
    ) VALUES (
      NEW.org, NEW.id, 'update', NEW.version, coalesce(call.at, (extract(epoch FROM clock_timestamp()) * 1000)::bigint),
      call.change_id, call.key_id, call.agent,
      NEW.thread_id, NEW.project, NEW.kind, shown_to(NEW), OLD.thread_id, OLD.project, OLD.kind, shown_to(OLD)
    );
  RETURN NULL;
END $$;

-- How many calls alike a row stands for, in those of denials and of reads; null where each call has its own.
ALTER TABLE audit ADD COLUMN times bigint;

CREATE INDEX audit_repeated ON audit (org, key_id, action, at) WHERE times IS NOT NULL;

-- While there is a row, what is older may go. No statement outside the transaction of a purge sees one.
CREATE TABLE audit_purge (before bigint PRIMARY KEY);

CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF NEW.times = OLD.times + 1 AND length(NEW.ids) >= length(OLD.ids)
      AND (NEW.org, NEW.seq, NEW.at, NEW.key_id, NEW.agent, NEW.action, NEW.tool, NEW.allowed, NEW.detail)
        IS NOT DISTINCT FROM (OLD.org, OLD.seq, OLD.at, OLD.key_id, OLD.agent, OLD.action, OLD.tool, OLD.allowed, OLD.detail)
    THEN RETURN NEW; END IF;
  ELSIF TG_OP = 'DELETE' THEN
    IF EXISTS (SELECT 1 FROM audit_purge p WHERE OLD.at < p.before) THEN RETURN OLD; END IF;
  END IF;
  RAISE EXCEPTION 'commonplace: the audit log is append-only';
END $$;

INSERT INTO org_usage (org, part, items, bytes)
  SELECT org, 'audit', count(*), sum(octet_length(ids || detail || action || key_id)) FROM audit GROUP BY org;

CREATE FUNCTION keep_usage_of_audit() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM use_room(NEW.org, 'audit', 1, octet_length(NEW.ids || NEW.detail || NEW.action || NEW.key_id));
  ELSE PERFORM use_room(NEW.org, 'audit', 0, octet_length(NEW.ids) - octet_length(OLD.ids));
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER usage_of_audit AFTER INSERT OR UPDATE OF ids ON audit FOR EACH ROW EXECUTE FUNCTION keep_usage_of_audit();

CREATE FUNCTION keep_usage_of_purged_audit() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM use_room(of_org.org, 'audit', -of_org.items, -of_org.bytes)
    FROM (
      SELECT org, count(*) AS items, sum(octet_length(ids || detail || action || key_id)) AS bytes
      FROM moved GROUP BY org ORDER BY org
    ) AS of_org;
  RETURN NULL;
END $$;

CREATE TRIGGER usage_of_purged_audit AFTER DELETE ON audit REFERENCING OLD TABLE AS moved
  FOR EACH STATEMENT EXECUTE FUNCTION keep_usage_of_purged_audit();

-- Of an org that is full the oldest kept states go first.
CREATE INDEX versions_by_org ON entry_versions (org, id);

-- What was deleted of a thread, for whoever erases the thread.
CREATE INDEX versions_deleted_by_thread ON entry_versions (org, thread_id, entry_id) WHERE deleted = 1;

CREATE INDEX changes_deleted_by_thread ON changes (org, was_thread, entry_id) WHERE action = 'delete' AND erased = 0;

-- What of a thread lists do not show.
CREATE INDEX entries_unlisted ON entries (org, thread_id, id) WHERE listed = 0;
