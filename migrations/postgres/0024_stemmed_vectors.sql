-- Vectors of `local` are made of stems, which are other ones since 0010, so those of entries are made anew under a key that says so
-- (domain/vector.ts). Those of code were made of the stems of today.
UPDATE code_vectors SET model = replace(model, '#', '~2#') WHERE model LIKE 'hashed-features-v1%' AND model NOT LIKE '%~%';

UPDATE code_files SET model = replace(model, '#', '~2#') WHERE model LIKE 'hashed-features-v1%' AND model NOT LIKE '%~%';
