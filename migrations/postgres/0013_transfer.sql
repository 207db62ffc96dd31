-- Export and import (docs/contracts/operate.md §2): the name of each store, and what has come in from others.

-- Random, so that ids of one store are told from those of another wherever they go.
CREATE TABLE transfer_stores (
  org text COLLATE "C" PRIMARY KEY,
  store text COLLATE "C" NOT NULL
);

-- Which entry here is which entry there. A row stands before its entry does: an import that broke off goes on with the same ids.
CREATE TABLE imported (
  org text COLLATE "C" NOT NULL,
  store text COLLATE "C" NOT NULL,
  their_id text COLLATE "C" NOT NULL,
  owner text COLLATE "C" NOT NULL, -- who brought it; '' for a holder of ADMIN_TOKEN and for open mode
  entry_id bigint NOT NULL,
  version integer NOT NULL, -- at which it stood after it came; 0: not yet
  at bigint NOT NULL, -- of the newest file that it came with, milliseconds since 1970
  PRIMARY KEY (org, store, their_id, owner)
);

CREATE INDEX imported_by_entry ON imported (entry_id);

-- What an entry that came says of one that has not come yet.
CREATE TABLE import_references (
  org text COLLATE "C" NOT NULL,
  store text COLLATE "C" NOT NULL,
  their_id text COLLATE "C" NOT NULL, -- of what has not come
  entry_id bigint NOT NULL, -- that says it
  relation text COLLATE "C" NOT NULL, -- '' for an id in its metadata
  origin text COLLATE "C" NOT NULL, -- '' likewise
  PRIMARY KEY (org, store, their_id, entry_id, relation, origin)
);

CREATE INDEX import_references_by_entry ON import_references (entry_id);

-- An export goes by id through all entries of an org; those that no list shows, and deleted ones, by these.
CREATE INDEX entries_unlisted_by_id ON entries (org, id) WHERE listed = 0;

CREATE INDEX versions_deleted_by_id ON entry_versions (org, entry_id) WHERE deleted = 1;

CREATE FUNCTION references_deleted() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM import_references WHERE entry_id = OLD.id;
  RETURN NULL;
END $$;

CREATE TRIGGER references_deleted AFTER DELETE ON entries FOR EACH ROW EXECUTE FUNCTION references_deleted();
