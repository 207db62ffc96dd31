-- The patterns that stand first at a moment, without a look at the others: by where they stand, and in the orders in which they may.

-- A row for each place of a pattern: '' for all of them, and the endings ('e'), folders ('d') and names ('f') of its files. Of the patterns
-- of one place, reader, weight and language, the first are among those that were used last, where each of ten uses counts as two days
-- more, or among those with the most uses (fabric contract §5: a use is worth 0.02, ten at most; a day 0.01, twenty at most). Places and
-- languages are cut where an index could not hold them, at lengths that nothing which is looked for has.
CREATE TABLE pattern_places (
  org TEXT NOT NULL,
  layer INTEGER NOT NULL,
  project TEXT NOT NULL, -- '' for none, and in layer 3, which belongs to all projects
  place TEXT NOT NULL,
  reader TEXT NOT NULL,
  sort TEXT NOT NULL, -- weight and language
  lately INTEGER NOT NULL,
  entry_id INTEGER NOT NULL,
  uses INTEGER NOT NULL, -- 1 to 10
  expires_at INTEGER,
  PRIMARY KEY (org, layer, project, place, reader, sort, lately, entry_id)
) WITHOUT ROWID;

CREATE INDEX pattern_places_by_use ON pattern_places (org, layer, project, place, reader, sort, uses, entry_id, expires_at);

CREATE INDEX patterns_by_entry ON patterns (entry_id);

-- What should stand there.
CREATE VIEW pattern_place_rows AS
  SELECT p.org, p.layer, CASE WHEN p.layer = 3 THEN '' ELSE p.project END AS project, substr(at.value, 1, 101) AS place, p.reader,
    p.weight || ' ' || substr(p.language, 1, 41) AS sort, p.used_at + 172800000 * min(10, max(1, p.uses)) AS lately, p.entry_id,
    min(10, max(1, p.uses)) AS uses, p.expires_at
  FROM patterns p CROSS JOIN json_each(json_array(
      '', 'e' || p.ending, 'e' || p.code_ending, 'd' || p.folder, 'd' || p.code_folder, 'f' || p.file, 'f' || p.code_file
    )) at
  WHERE at.value IS NOT NULL;

INSERT OR IGNORE INTO pattern_places SELECT * FROM pattern_place_rows;

CREATE TRIGGER pattern_places_stored AFTER INSERT ON patterns
BEGIN
  INSERT OR IGNORE INTO pattern_places SELECT * FROM pattern_place_rows WHERE entry_id = NEW.entry_id;
END;

CREATE TRIGGER pattern_places_used AFTER UPDATE OF uses, used_at ON patterns
BEGIN
  UPDATE pattern_places
    SET lately = NEW.used_at + 172800000 * min(10, max(1, NEW.uses)), uses = min(10, max(1, NEW.uses))
    WHERE org = OLD.org AND layer = OLD.layer AND project = CASE WHEN OLD.layer = 3 THEN '' ELSE OLD.project END
      AND place IN (
        SELECT substr(value, 1, 101) FROM json_each(json_array(
            '', 'e' || OLD.ending, 'e' || OLD.code_ending, 'd' || OLD.folder, 'd' || OLD.code_folder, 'f' || OLD.file, 'f' || OLD.code_file
          ))
      )
      AND reader = OLD.reader AND sort = OLD.weight || ' ' || substr(OLD.language, 1, 41)
      AND lately = OLD.used_at + 172800000 * min(10, max(1, OLD.uses)) AND entry_id = OLD.entry_id;
END;

CREATE TRIGGER pattern_places_deleted AFTER DELETE ON patterns
BEGIN
  DELETE FROM pattern_places
    WHERE org = OLD.org AND layer = OLD.layer AND project = CASE WHEN OLD.layer = 3 THEN '' ELSE OLD.project END
      AND place IN (
        SELECT substr(value, 1, 101) FROM json_each(json_array(
            '', 'e' || OLD.ending, 'e' || OLD.code_ending, 'd' || OLD.folder, 'd' || OLD.code_folder, 'f' || OLD.file, 'f' || OLD.code_file
          ))
      )
      AND reader = OLD.reader AND sort = OLD.weight || ' ' || substr(OLD.language, 1, 41)
      AND lately = OLD.used_at + 172800000 * min(10, max(1, OLD.uses)) AND entry_id = OLD.entry_id;
END;
