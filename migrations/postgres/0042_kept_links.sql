-- A link stands as long as the entry that it leads from. What it leads to may be deleted: whoever reads links looks up both ends, so it is
-- there for nobody until that entry comes back. So a delete costs what the entry itself names, however many others name it, and what
-- comes back finds their links in place.

-- Entries that cannot come back, although links lead to them; the schedule removes these part by part.
CREATE TABLE dangling_links (
  entry_id bigint PRIMARY KEY,
  org text COLLATE "C" NOT NULL
);

-- What links to an entry, in the order in which a pack looks at it.
DROP INDEX links_by_target;

CREATE INDEX links_by_target ON links (to_id, from_id, org, relation);

-- What takes the place of an entry, and what contradicts it: few among many that may refer to it.
CREATE INDEX links_in_dispute ON links (to_id, relation, from_id) WHERE relation = 'supersedes' OR relation = 'contradicts';

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
      OLD.org, OLD.id, 'delete', OLD.version + 1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
      call.change_id, call.key_id, call.agent,
      OLD.thread_id, OLD.project, OLD.kind, OLD.thread_id, OLD.project, OLD.kind, shown_to(OLD), OLD.reader
    );
  RETURN NULL;
END $$;

-- Of its own links, `edges` keeps those that its metadata do not name. (Rows from before hold all links from and to the entry.)
CREATE OR REPLACE FUNCTION keep_last_version(was entries, call writing) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO entry_versions (
      entry_id, text, ended_at, ended_version, changed, deleted, ended_by, ended_agent, change_id, edges, size,
      org, thread_id, source, layer, version, created_at, updated_at, named_kind, tag_kind, work_item, title,
      project, domain, agent, audience, diary, status, given_weight, given_pinned, named_weight, named_pinned,
      named_expires_at, layer_expires_at, confidence, archived, owner, created_by, text_hash, bytes, text_words,
      image_count, tags, links, images, metadata, summary, changed_by, changed_agent, restored
    )
    VALUES (
      was.id, was.text, coalesce(call.at, (extract(epoch FROM clock_timestamp()) * 1000)::bigint), was.version + 1,
      0, 1, call.key_id, call.agent, call.change_id,
      (
        SELECT jsonb_agg(jsonb_build_array(l.from_id, l.relation, l.to_id, l.origin))::text FROM links AS l
        WHERE l.org = was.org AND l.from_id = was.id AND l.origin <> 'metadata'
      ),
      was.bytes,
      was.org, was.thread_id, was.source, was.layer, was.version, was.created_at, was.updated_at, was.named_kind,
      was.tag_kind, was.work_item, was.title, was.project, was.domain, was.agent, was.audience, was.diary,
      was.status, was.given_weight, was.given_pinned, was.named_weight, was.named_pinned, was.named_expires_at,
      was.layer_expires_at, was.confidence, was.archived, was.owner, was.created_by, was.text_hash, was.bytes,
      was.text_words, was.image_count, was.tags, was.links, was.images, was.metadata, was.summary, was.changed_by,
      was.changed_agent, was.restored
    );
END $$;

CREATE FUNCTION keep_dangling() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO dangling_links (entry_id, org)
    SELECT DISTINCT m.entry_id, m.org FROM moved m
    WHERE EXISTS (SELECT 1 FROM links l WHERE l.to_id = m.entry_id)
      AND NOT EXISTS (SELECT 1 FROM entry_versions v WHERE v.entry_id = m.entry_id)
      AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.id = m.entry_id)
    ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

CREATE TRIGGER links_forgotten AFTER DELETE ON entry_versions REFERENCING OLD TABLE AS moved
  FOR EACH STATEMENT EXECUTE FUNCTION keep_dangling();
