-- What is erased leads to the receipts of the calls that were about it.

CREATE INDEX receipts_by_call ON receipts (org, change_id);
