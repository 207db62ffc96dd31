-- Files of code count among the bytes that an org may hold (0008_quotas.sql), by what was sent. The twin of D1's file of this name.

INSERT INTO org_usage (org, part, items, bytes) SELECT org, 'code', count(*), sum(bytes) FROM code_files GROUP BY org;

CREATE FUNCTION keep_usage_of_code() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  sign integer := CASE WHEN TG_OP = 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  PERFORM use_room(of_org.org, 'code', sign * of_org.items, (sign * of_org.bytes)::bigint)
    FROM (SELECT org, count(*) AS items, sum(bytes) AS bytes FROM moved GROUP BY org ORDER BY org) AS of_org;
  RETURN NULL;
END $$;

CREATE TRIGGER usage_of_code_gain AFTER INSERT ON code_files REFERENCING NEW TABLE AS moved
  FOR EACH STATEMENT EXECUTE FUNCTION keep_usage_of_code();

CREATE TRIGGER usage_of_code_loss AFTER DELETE ON code_files REFERENCING OLD TABLE AS moved
  FOR EACH STATEMENT EXECUTE FUNCTION keep_usage_of_code();
