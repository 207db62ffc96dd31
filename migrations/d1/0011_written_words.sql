-- Words also as they are written, beside their stems, for searches by beginnings. A virtual table takes no new column, and what
-- it holds cannot be read back, so the schedule writes it anew (0010 says so to it).

DROP TABLE entries_fts;

CREATE VIRTUAL TABLE entries_fts USING fts5(
  scope, title, body, code, context, written,
  content = '', contentless_delete = 1,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
);
