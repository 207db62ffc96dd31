-- Links between entries. A link stands as long as the entry that it leads from. What it leads to may be deleted: whoever reads links
-- looks up both ends, so it is there for nobody until that entry comes back. So a delete costs what the entry itself names, however
-- many others name it, and what comes back finds their links in place.

-- The origin says who made a link: rewriting those of one origin never touches those of another. A link that several made is several
-- rows.
CREATE TABLE links (
  org text COLLATE "C" NOT NULL,
  from_id bigint NOT NULL,
  relation text COLLATE "C" NOT NULL,
  to_id bigint NOT NULL,
  origin text COLLATE "C" NOT NULL DEFAULT 'metadata' CHECK (origin IN ('metadata', 'remember', 'system')),
  PRIMARY KEY (org, from_id, relation, to_id, origin)
);

-- What links to an entry, by its id alone, in the order in which a pack looks at it.
CREATE INDEX links_by_target ON links (to_id, from_id, org, relation);

-- What takes the place of an entry, and what contradicts it: few among many that may refer to it.
CREATE INDEX links_in_dispute ON links (to_id, relation, from_id) WHERE relation = 'supersedes' OR relation = 'contradicts';

-- Entries that cannot come back, although links lead to them; the schedule removes these part by part.
CREATE TABLE dangling_links (
  entry_id bigint PRIMARY KEY,
  org text COLLATE "C" NOT NULL
);
