-- The full-text index holds terms, no copy of the text: words arrive folded, cut and, where the code knows the language,
-- stemmed (src/domain/analysis.ts), so no parser of this database ever sees them. A language that only the database can stem
-- goes through its Snowball dictionary, word by word.

CREATE TABLE entries_fts (
  entry_id bigint PRIMARY KEY,
  -- Terms of the text (weight A) and of date and agent (no position), and terms beginning with '/' for who may see the entry.
  words tsvector NOT NULL,
  -- The same terms in order: neighbours are looked up here, because a tsvector forgets positions beyond 16,383.
  body text COLLATE "C" NOT NULL,
  context text COLLATE "C" NOT NULL,
  -- Title (weight A) and code (weight B), which other vocabularies search.
  aside tsvector NOT NULL
);

CREATE INDEX entries_fts_by_word ON entries_fts USING gin (words) WITH (fastupdate = off);

-- Which words became a term, for languages stemmed here: what scores and marks words in a text looks them up.
CREATE TABLE word_forms (
  org text COLLATE "C" NOT NULL,
  language text COLLATE "C" NOT NULL,
  term text COLLATE "C" NOT NULL,
  word text COLLATE "C" NOT NULL,
  PRIMARY KEY (org, language, term, word)
);

-- A stop word of the dictionary stays as it is: whether it counts is decided by the query, not by the index.
CREATE FUNCTION stem(language text, word text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce((ts_lexize(('pg_catalog.' || language || '_stem')::regdictionary, word))[1], word)
$$;

-- A word of a query. Terms hold letters, digits and marks only.
CREATE FUNCTION term_query(language text, word text, is_prefix boolean) RETURNS tsquery LANGUAGE sql IMMUTABLE SET search_path FROM CURRENT AS $$
  SELECT ('''' || stem(language, word) || CASE WHEN is_prefix THEN ''':*' ELSE '''' END)::tsquery
$$;

CREATE FUNCTION stem_terms(language text, terms text) RETURNS text LANGUAGE sql IMMUTABLE SET search_path FROM CURRENT AS $$
  SELECT coalesce(string_agg(stem(language, term), ' ' ORDER BY place), '') FROM string_to_table(terms, ' ') WITH ORDINALITY AS given (term, place) WHERE term <> ''
$$;

CREATE FUNCTION stem_vector(language text, words tsvector) RETURNS tsvector LANGUAGE sql IMMUTABLE SET search_path FROM CURRENT AS $$
  SELECT coalesce(string_agg('''' || stem(language, lexeme) || ''':' || array_to_string(positions, ','), ' '), '')::tsvector FROM unnest(words)
$$;

CREATE FUNCTION keep_unindexed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM entries_fts WHERE entry_id = OLD.id;
  RETURN NULL;
END $$;

CREATE TRIGGER entries_unindexed AFTER DELETE ON entries FOR EACH ROW EXECUTE FUNCTION keep_unindexed();
