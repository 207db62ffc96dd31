-- The patterns that stand first at a moment, without a look at the others: by where they stand, and in the orders in which they may.

-- A row for each place of a pattern: '' for all of them, and the endings ('e'), folders ('d') and names ('f') of its files. Of the patterns
-- of one place, reader, weight and language, the first are among those that were used last, where each of ten uses counts as two days
-- more, or among those with the most uses (fabric contract §5: a use is worth 0.02, ten at most; a day 0.01, twenty at most). Places and
-- languages are cut where an index could not hold them, at lengths that nothing which is looked for has.
CREATE TABLE pattern_places (
  org text COLLATE "C" NOT NULL,
  layer integer NOT NULL,
  project text COLLATE "C" NOT NULL, -- '' for none, and in layer 3, which belongs to all projects
  place text COLLATE "C" NOT NULL,
  reader text COLLATE "C" NOT NULL,
  sort text COLLATE "C" NOT NULL, -- weight and language
  lately bigint NOT NULL,
  entry_id bigint NOT NULL,
  uses integer NOT NULL, -- 1 to 10
  expires_at bigint,
  PRIMARY KEY (org, layer, project, place, reader, sort, lately, entry_id)
);

CREATE INDEX pattern_places_by_use ON pattern_places (org, layer, project, place, reader, sort, uses, entry_id);

CREATE INDEX patterns_by_entry ON patterns (entry_id);

-- What should stand there for a row of patterns.
CREATE FUNCTION places_of(pattern patterns) RETURNS SETOF pattern_places LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
  SELECT DISTINCT pattern.org, pattern.layer, CASE WHEN pattern.layer = 3 THEN '' ELSE pattern.project END, substr(at.place, 1, 101), pattern.reader,
    (pattern.weight || ' ' || substr(pattern.language, 1, 41)) COLLATE "C", pattern.used_at + 172800000 * least(10, greatest(1, pattern.uses)),
    pattern.entry_id, least(10, greatest(1, pattern.uses)), pattern.expires_at
  FROM unnest(ARRAY[
      '', 'e' || pattern.ending, 'e' || pattern.code_ending, 'd' || pattern.folder, 'd' || pattern.code_folder,
      'f' || pattern.file, 'f' || pattern.code_file
    ]) AS at (place)
  WHERE at.place IS NOT NULL
$$;

INSERT INTO pattern_places SELECT at.* FROM patterns p CROSS JOIN LATERAL places_of(p) AS at;

CREATE FUNCTION keep_pattern_places() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    DELETE FROM pattern_places
      WHERE org = OLD.org AND layer = OLD.layer AND project = CASE WHEN OLD.layer = 3 THEN '' ELSE OLD.project END
        AND place = ANY (ARRAY(SELECT at.place FROM places_of(OLD) AS at))
        AND reader = OLD.reader AND sort = OLD.weight || ' ' || substr(OLD.language, 1, 41)
        AND lately = OLD.used_at + 172800000 * least(10, greatest(1, OLD.uses)) AND entry_id = OLD.entry_id;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO pattern_places SELECT * FROM places_of(NEW);
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER pattern_places_stored AFTER INSERT OR DELETE ON patterns FOR EACH ROW EXECUTE FUNCTION keep_pattern_places();

CREATE TRIGGER pattern_places_used AFTER UPDATE ON patterns FOR EACH ROW EXECUTE FUNCTION keep_pattern_places();
