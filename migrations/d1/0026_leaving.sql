-- Entries that one call deletes beyond what one transaction takes away: gone for every reader from its commit on
-- (src/adapters/sql/visibility.ts), and removed part by part behind it (src/adapters/sql/leaving.ts).

CREATE TABLE leaving (
  entry_id INTEGER PRIMARY KEY,
  org TEXT NOT NULL,
  part INTEGER NOT NULL, -- from 1; what goes together
  -- Who deletes and how, as in `writing`.
  change_id TEXT NOT NULL,
  key_id TEXT,
  agent TEXT,
  at INTEGER,
  keeps INTEGER NOT NULL,
  erases INTEGER NOT NULL -- whether nothing of their history is left either
);

CREATE INDEX leaving_by_call ON leaving (org, change_id, part);
