-- Words also as they are written, beside their stems, for searches by beginnings; and the terms of titles and code where a
-- search can find them. What stands in the index is found by its stems until the schedule has written it anew.

ALTER TABLE entries_fts
  -- Content words of the text, by which candidates are chosen without a look at the entry.
  ADD COLUMN length integer NOT NULL DEFAULT 0,
  -- Terms of title and code in order, from which neighbours are found.
  ADD COLUMN title text COLLATE "C" NOT NULL DEFAULT '',
  ADD COLUMN code text COLLATE "C" NOT NULL DEFAULT '',
  -- Words of text, date and agent in order as they are written; NULL where no words are stemmed.
  ADD COLUMN written text COLLATE "C",
  DROP COLUMN aside;

UPDATE entries_fts f SET length = e.text_words FROM entries e WHERE e.id = f.entry_id;

COMMENT ON COLUMN entries_fts.words IS
  'stems of body and context, weight A where the stem is itself a word of them; /scope, =word unlike its stem, ^title, #code';
