-- A link stands as long as the entry that it leads from. What it leads to may be deleted: whoever reads links looks up both ends, so it is
-- there for nobody until that entry comes back. So a delete costs what the entry itself names, however many others name it, and what
-- comes back finds their links in place.

-- Entries that cannot come back, although links lead to them; the schedule removes these part by part.
CREATE TABLE dangling_links (
  entry_id INTEGER PRIMARY KEY,
  org TEXT NOT NULL
);

-- What links to an entry, in the order in which a pack looks at it.
DROP INDEX links_by_target;

CREATE INDEX links_by_target ON links (to_id, from_id);

-- What takes the place of an entry, and what contradicts it: few among many that may refer to it.
CREATE INDEX links_in_dispute ON links (to_id, relation, from_id) WHERE relation = 'supersedes' OR relation = 'contradicts';

DROP TRIGGER entries_deleted;

CREATE TRIGGER entries_deleted AFTER DELETE ON entries
BEGIN
  DELETE FROM entry_tags WHERE entry_id = OLD.id;
  DELETE FROM image_uses WHERE entry_id = OLD.id;
  DELETE FROM links WHERE org = OLD.org AND from_id = OLD.id;
  INSERT OR IGNORE INTO dangling_links (entry_id, org)
    SELECT OLD.id, OLD.org
    WHERE EXISTS (SELECT 1 FROM links WHERE to_id = OLD.id)
      AND NOT EXISTS (SELECT 1 FROM entry_versions WHERE entry_id = OLD.id);
  INSERT INTO changes (
      org, entry_id, action, version, at, change_id, key_id, agent,
      thread_id, project, kind, was_thread, was_project, was_kind, was_reader, last_reader
    )
    SELECT OLD.org, OLD.id, 'delete', OLD.version + 1, CAST(unixepoch('subsec') * 1000 AS INTEGER),
      coalesce(w.change_id, lower(hex(randomblob(16)))), w.key_id, w.agent,
      OLD.thread_id, OLD.project, OLD.kind, OLD.thread_id, OLD.project, OLD.kind,
      CASE WHEN OLD.listed = 1 AND (OLD.expires_at IS NULL OR OLD.expires_at > OLD.updated_at) THEN OLD.reader END,
      OLD.reader
    FROM (SELECT 1) LEFT JOIN writing w ON w.org IN (OLD.org, '');
END;

-- Of its own links, `edges` keeps those that its metadata do not name. (Rows from before hold all links from and to the entry.)
DROP TRIGGER versions_deleted;

CREATE TRIGGER versions_deleted BEFORE DELETE ON entries
  WHEN EXISTS (SELECT 1 FROM writing w WHERE w.org IN (OLD.org, '') AND w.keeps = 1)
BEGIN
  INSERT INTO entry_versions (
      entry_id, text, ended_at, ended_version, changed, deleted, ended_by, ended_agent, change_id, edges, size,
      org, thread_id, source, layer, version, created_at, updated_at, named_kind, tag_kind, work_item, title,
      project, domain, agent, audience, diary, status, given_weight, given_pinned, named_weight, named_pinned,
      named_expires_at, layer_expires_at, confidence, archived, owner, created_by, text_hash, bytes, text_words,
      image_count, tags, links, images, metadata, summary, changed_by, changed_agent, restored
    )
    SELECT OLD.id, OLD.text, coalesce(w.at, CAST(unixepoch('subsec') * 1000 AS INTEGER)), OLD.version + 1,
      0, 1, w.key_id, w.agent, w.change_id,
      (
        SELECT nullif(json_group_array(json_array(from_id, relation, to_id, origin)), '[]') FROM links
        WHERE org = OLD.org AND from_id = OLD.id AND origin <> 'metadata'
      ),
      OLD.bytes,
      OLD.org, OLD.thread_id, OLD.source, OLD.layer, OLD.version, OLD.created_at, OLD.updated_at, OLD.named_kind,
      OLD.tag_kind, OLD.work_item, OLD.title, OLD.project, OLD.domain, OLD.agent, OLD.audience, OLD.diary,
      OLD.status, OLD.given_weight, OLD.given_pinned, OLD.named_weight, OLD.named_pinned, OLD.named_expires_at,
      OLD.layer_expires_at, OLD.confidence, OLD.archived, OLD.owner, OLD.created_by, OLD.text_hash, OLD.bytes,
      OLD.text_words, OLD.image_count, OLD.tags, OLD.links, OLD.images, OLD.metadata, OLD.summary, OLD.changed_by,
      OLD.changed_agent, OLD.restored
    FROM writing w WHERE w.org IN (OLD.org, '');
END;

CREATE TRIGGER links_forgotten AFTER DELETE ON entry_versions
BEGIN
  INSERT OR IGNORE INTO dangling_links (entry_id, org)
    SELECT OLD.entry_id, OLD.org
    WHERE EXISTS (SELECT 1 FROM links WHERE to_id = OLD.entry_id)
      AND NOT EXISTS (SELECT 1 FROM entry_versions WHERE entry_id = OLD.entry_id)
      AND NOT EXISTS (SELECT 1 FROM entries WHERE id = OLD.entry_id);
END;
