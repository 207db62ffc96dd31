-- What the answer of a call with a key is made of is kept in the batch of its write, so that the call made again is answered as at
-- first wherever the server died.

-- What only the batch can tell its receipt.
ALTER TABLE writing ADD COLUMN told text;

-- `notes`: JSON of what the call had found out before its batch; an answer stands only where it tells more than this and what follows,
-- or where the call wrote nothing; null in receipts of earlier releases. `told`: JSON of what its batch told. `text`: a text that its
-- answer shows, where its arguments do not hold it.
ALTER TABLE receipts
  ADD COLUMN notes text,
  ADD COLUMN told text,
  ADD COLUMN text text,
  DROP COLUMN bytes;

ALTER TABLE receipts ADD COLUMN bytes bigint GENERATED ALWAYS AS (
  octet_length(coalesce(effect, '')) + octet_length(coalesce(answer, '')) + octet_length(coalesce(notes, ''))
    + octet_length(coalesce(told, '')) + octet_length(coalesce(text, ''))
) STORED;
