-- The index of an earlier release holds other stems. A database that has entries says so, so that the schedule writes the
-- index anew; a new database begins with the stemmers of this release.

INSERT INTO settings (name, value) SELECT 'full_text', '{"analysis":"english/2","upTo":null}' WHERE EXISTS (SELECT 1 FROM entries) ON CONFLICT (name) DO NOTHING;
