-- Entries whose metadata are large are found by their ids with their sizes, and looked at by themselves, since filters ask so much of each of them that
-- nobody else would be served meanwhile.
CREATE INDEX entries_with_large_metadata ON entries (org, id, octet_length(metadata)) WHERE listed = 1 AND octet_length(metadata) > 1024;
