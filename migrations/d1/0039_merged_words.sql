-- The schedule merges two parts of a size in the index of words, where writes alone merge four: a search seeks each of its words in every
-- part there is. What it does at once is bounded (src/adapters/d1/merging.ts).
INSERT INTO entries_fts (entries_fts, rank) VALUES ('usermerge', 2);
