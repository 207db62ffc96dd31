-- What is erased leads to the receipts of the calls that were about it.

CREATE INDEX receipts_by_call ON receipts (org, change_id);

-- No merge of the index of words because much of a part is gone: its bound counts the pages that it writes, and such a merge writes
-- none, so it read on through all that had been deleted while everybody waited. What is gone goes with the usual merges.
INSERT INTO entries_fts (entries_fts, rank) VALUES ('deletemerge', 0);
