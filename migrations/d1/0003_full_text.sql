-- The full-text index holds terms only, no copy of the text: words arrive folded and stemmed (src/domain/analysis.ts), so
-- the tokenizer has nothing left to do but split at spaces. Marks belong to words in many scripts, hence the categories.

CREATE VIRTUAL TABLE entries_fts USING fts5(
  scope, title, body, code, context,
  content = '', contentless_delete = 1,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
);

CREATE TRIGGER entries_unindexed AFTER DELETE ON entries
BEGIN
  DELETE FROM entries_fts WHERE rowid = OLD.id;
END;
