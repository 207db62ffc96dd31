-- What the answer of a call with a key is made of is kept in the batch of its write, so that the call made again is answered as at
-- first wherever the server died.

-- What only the batch can tell its receipt.
ALTER TABLE writing ADD COLUMN told TEXT;

DROP TRIGGER receipts_gain;

DROP TRIGGER receipts_change;

DROP TRIGGER receipts_loss;

ALTER TABLE receipts DROP COLUMN bytes;

-- JSON of what the call had found out before its batch. An answer stands only where it tells more than this and what follows, or where
-- the call wrote nothing. Null in receipts of earlier releases.
ALTER TABLE receipts ADD COLUMN notes TEXT;

-- JSON of what its batch told.
ALTER TABLE receipts ADD COLUMN told TEXT;

-- A text that its answer shows, where its arguments do not hold it.
ALTER TABLE receipts ADD COLUMN text TEXT;

ALTER TABLE receipts ADD COLUMN bytes INTEGER GENERATED ALWAYS AS (
  length(CAST(coalesce(effect, '') AS BLOB)) + length(CAST(coalesce(answer, '') AS BLOB)) + length(CAST(coalesce(notes, '') AS BLOB))
    + length(CAST(coalesce(told, '') AS BLOB)) + length(CAST(coalesce(text, '') AS BLOB))
) VIRTUAL;

CREATE TRIGGER receipts_gain AFTER INSERT ON receipts
BEGIN
  INSERT INTO org_usage (org, part, items, bytes) VALUES (NEW.org, 'receipts', 1, NEW.bytes)
    ON CONFLICT (org, part) DO UPDATE SET items = items + 1, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER receipts_change AFTER UPDATE OF effect, answer, notes, told, text ON receipts
BEGIN
  UPDATE org_usage SET bytes = bytes - OLD.bytes + NEW.bytes WHERE org = NEW.org AND part = 'receipts';
END;

CREATE TRIGGER receipts_loss AFTER DELETE ON receipts
BEGIN
  UPDATE org_usage SET items = items - 1, bytes = bytes - OLD.bytes WHERE org = OLD.org AND part = 'receipts';
END;
