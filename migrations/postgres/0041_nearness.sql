-- What statements ask of pgvector, by names of this schema: they know no other, and the extension may stand in another one. These
-- bodies are parsed here, once, and put into the statements that call them.

CREATE FUNCTION halfvec_of(numbers text) RETURNS halfvec LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN numbers::halfvec;

CREATE FUNCTION product_of(a halfvec, b halfvec) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN -(a <#> b);

CREATE FUNCTION distance_of(a halfvec, b halfvec) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a <=> b;
