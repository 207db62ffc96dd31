-- What each org holds, by part, kept in step by the statements that change it. Families that keep more bring a part of theirs.
-- An image counts once an org, however many entries show it; an entry counts until its row is gone.

CREATE TABLE org_usage (
  org text COLLATE "C" NOT NULL,
  part text COLLATE "C" NOT NULL, -- 'entries': text and metadata; 'images'
  items bigint NOT NULL,
  bytes bigint NOT NULL,
  -- What stood there when the write that is going on began, so that one that takes no more room is never refused.
  items_before bigint NOT NULL DEFAULT 0,
  bytes_before bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (org, part)
);

INSERT INTO org_usage (org, part, items, bytes) SELECT org, 'entries', count(*), sum(bytes) FROM entries GROUP BY org;

INSERT INTO org_usage (org, part, items, bytes)
  SELECT org, 'images', count(*), sum(size)
  FROM (SELECT org, hash, max(size) AS size FROM image_uses GROUP BY org, hash) AS images
  GROUP BY org;

CREATE FUNCTION use_room(of_org text, of_part text, more_items bigint, more_bytes bigint) RETURNS void LANGUAGE plpgsql
  SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO org_usage AS u (org, part, items, bytes) VALUES (of_org, of_part, more_items, more_bytes)
    ON CONFLICT (org, part) DO UPDATE SET items = u.items + excluded.items, bytes = u.bytes + excluded.bytes;
END $$;

CREATE FUNCTION keep_usage_gain() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM use_room(of_org.org, 'entries', of_org.items, of_org.bytes)
    FROM (SELECT org, count(*) AS items, sum(bytes) AS bytes FROM moved GROUP BY org ORDER BY org) AS of_org;
  RETURN NULL;
END $$;

CREATE TRIGGER usage_gain AFTER INSERT ON entries REFERENCING NEW TABLE AS moved
  FOR EACH STATEMENT EXECUTE FUNCTION keep_usage_gain();

CREATE FUNCTION keep_usage_loss() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM use_room(of_org.org, 'entries', -of_org.items, -of_org.bytes)
    FROM (SELECT org, count(*) AS items, sum(bytes) AS bytes FROM moved GROUP BY org ORDER BY org) AS of_org;
  RETURN NULL;
END $$;

CREATE TRIGGER usage_loss AFTER DELETE ON entries REFERENCING OLD TABLE AS moved
  FOR EACH STATEMENT EXECUTE FUNCTION keep_usage_loss();

CREATE FUNCTION keep_usage_change() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM use_room(NEW.org, 'entries', 0, NEW.bytes - OLD.bytes);
  RETURN NULL;
END $$;

CREATE TRIGGER usage_change AFTER UPDATE OF bytes ON entries FOR EACH ROW
  WHEN (OLD.bytes <> NEW.bytes) EXECUTE FUNCTION keep_usage_change();

CREATE FUNCTION keep_usage_of_images() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  one image_uses;
BEGIN
  IF TG_OP = 'INSERT' THEN one := NEW; ELSE one := OLD; END IF;
  IF EXISTS (SELECT 1 FROM image_uses WHERE org = one.org AND hash = one.hash AND entry_id <> one.entry_id) THEN
    RETURN NULL;
  END IF;
  IF TG_OP = 'INSERT' THEN PERFORM use_room(one.org, 'images', 1, one.size);
  ELSE PERFORM use_room(one.org, 'images', -1, -one.size);
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER usage_of_images AFTER INSERT OR DELETE ON image_uses FOR EACH ROW EXECUTE FUNCTION keep_usage_of_images();

-- A premise may have a name, which says what refused the batch.
CREATE OR REPLACE VIEW guards AS SELECT true AS holds, ''::text AS premise;

CREATE OR REPLACE FUNCTION check_guard() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF NEW.holds IS TRUE THEN RETURN NEW; END IF;
  IF NEW.premise IS NULL THEN PERFORM premise_failed(); END IF;
  RAISE EXCEPTION 'commonplace: premise no longer holds: %', NEW.premise USING ERRCODE = 'CP001';
END $$;
