-- The index of an earlier release holds other stems. A database that has entries says so, so that the schedule writes the
-- index anew; a new database begins with the stemmers of this release.

INSERT INTO settings (name, value) SELECT 'full_text', '{"analysis":"english/2","upTo":null}' WHERE EXISTS (SELECT 1 FROM entries) ON CONFLICT (name) DO NOTHING;

-- Words arrive stemmed in every language, so this database's own dictionaries have nothing left to do.
DROP FUNCTION stem_vector(text, tsvector);
DROP FUNCTION stem_terms(text, text);
DROP FUNCTION term_query(text, text, boolean);
DROP FUNCTION stem(text, text);
DROP TABLE word_forms;
