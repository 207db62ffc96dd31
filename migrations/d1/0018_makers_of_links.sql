-- Who made a link: the key that wrote the change which named it, '' for none. NULL where it is not known: links of before this file, and
-- those that an import brought. Whether an entry takes the place of another for everybody goes by it, since
-- whoever changes the entry later has not made its links.
ALTER TABLE links ADD COLUMN made_by TEXT;

DROP TRIGGER entries_relinked;

-- A link that is still named stays as it is; it is looked up by one value, since for a pair that is not in a list SQLite reads all of it.
-- `OR IGNORE` would not hold where the entry is changed by an upsert (0017_images_twice.sql).
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

DROP TRIGGER entries_stored;

CREATE TRIGGER entries_stored AFTER INSERT ON entries
BEGIN
  INSERT INTO entry_tags (org, tag, layer, project, entry_id, created_at, kind, reader, expires_at, listed)
    SELECT NEW.org, value, NEW.layer, coalesce(NEW.project, ''), NEW.id, NEW.created_at, NEW.kind, NEW.reader, NEW.expires_at, NEW.listed
    FROM json_each(NEW.tags);
  INSERT OR IGNORE INTO image_uses (org, hash, entry_id, size, mime_type)
    SELECT NEW.org, value ->> 'hash', NEW.id, value ->> 'size', value ->> 'mimeType' FROM json_each(NEW.images);
  INSERT OR IGNORE INTO links (org, from_id, relation, to_id, origin, made_by)
    SELECT NEW.org, NEW.id, value ->> 0, value ->> 1, 'metadata', coalesce(NEW.changed_by, NEW.created_by, '')
    FROM json_each(NEW.links) WHERE value ->> 1 <> NEW.id;
  INSERT INTO changes (org, entry_id, action, version, at, change_id, key_id, agent, thread_id, project, kind, reader)
    SELECT NEW.org, NEW.id, 'store', NEW.version, NEW.updated_at,
      coalesce(w.change_id, lower(hex(randomblob(16)))), NEW.changed_by, NEW.changed_agent,
      NEW.thread_id, NEW.project, NEW.kind,
      CASE WHEN (NEW.listed = 1 OR NEW.captured = 1) AND (NEW.expires_at IS NULL OR NEW.expires_at > NEW.updated_at) THEN NEW.reader END
    FROM (SELECT 1) LEFT JOIN writing w ON w.org IN (NEW.org, '');
END;

DROP TRIGGER versions_deleted;

-- A deleted entry comes back with who made its links; of those that its metadata name, with who made those of `supersedes`.
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
        SELECT nullif(json_group_array(json_array(from_id, relation, to_id, origin, made_by)), '[]') FROM links
        WHERE org = OLD.org AND from_id = OLD.id AND (origin <> 'metadata' OR relation = 'supersedes')
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
