-- Who made a link: the key that wrote the change which named it, '' for none. NULL where it is not known: links of before this file, and
-- those that an import brought. Whether an entry takes the place of another for everybody goes by it, since
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

-- A deleted entry comes back with who made its links; of those that its metadata name, with who made those of `supersedes`.
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
        SELECT jsonb_agg(jsonb_build_array(l.from_id, l.relation, l.to_id, l.origin, l.made_by))::text FROM links AS l
        WHERE l.org = was.org AND l.from_id = was.id AND (l.origin <> 'metadata' OR l.relation = 'supersedes')
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
