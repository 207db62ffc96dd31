-- Export and import (docs/contracts/operate.md §2): the name of each store, and what has come in from others.

-- Random, so that ids of one store are told from those of another wherever they go.
CREATE TABLE transfer_stores (
  org TEXT PRIMARY KEY,
  store TEXT NOT NULL
) WITHOUT ROWID;

-- Which entry here is which entry there. A row stands before its entry does: an import that broke off goes on with the same ids.
CREATE TABLE imported (
  org TEXT NOT NULL,
  store TEXT NOT NULL,
  their_id TEXT NOT NULL,
  owner TEXT NOT NULL, -- who brought it; '' for a holder of ADMIN_TOKEN and for open mode
  entry_id INTEGER NOT NULL,
  version INTEGER NOT NULL, -- at which it stood after it came; 0: not yet
  at INTEGER NOT NULL, -- of the newest file that it came with, milliseconds since 1970
  PRIMARY KEY (org, store, their_id, owner)
) WITHOUT ROWID;

CREATE INDEX imported_by_entry ON imported (entry_id);

-- What an entry that came says of one that has not come yet.
CREATE TABLE import_references (
  org TEXT NOT NULL,
  store TEXT NOT NULL,
  their_id TEXT NOT NULL, -- of what has not come
  entry_id INTEGER NOT NULL, -- that says it
  relation TEXT NOT NULL, -- '' for an id in its metadata
  origin TEXT NOT NULL, -- '' likewise
  PRIMARY KEY (org, store, their_id, entry_id, relation, origin)
) WITHOUT ROWID;

CREATE INDEX import_references_by_entry ON import_references (entry_id);

-- An export goes by id through all entries of an org; those that no list shows, and deleted ones, by these.
CREATE INDEX entries_unlisted_by_id ON entries (org, id) WHERE listed = 0;

CREATE INDEX versions_deleted_by_id ON entry_versions (org, entry_id) WHERE deleted = 1;

CREATE TRIGGER references_deleted AFTER DELETE ON entries
BEGIN
  DELETE FROM import_references WHERE entry_id = OLD.id;
END;
