-- Files of code count among the bytes that an org may hold (0008_quotas.sql), by what was sent.

INSERT INTO org_usage (org, part, items, bytes) SELECT org, 'code', count(*), sum(bytes) FROM code_files GROUP BY org;

CREATE TRIGGER usage_of_code_gain AFTER INSERT ON code_files
BEGIN
  INSERT INTO org_usage (org, part, items, bytes) VALUES (NEW.org, 'code', 1, NEW.bytes)
    ON CONFLICT (org, part) DO UPDATE SET items = items + 1, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER usage_of_code_loss AFTER DELETE ON code_files
BEGIN
  UPDATE org_usage SET items = items - 1, bytes = bytes - OLD.bytes WHERE org = OLD.org AND part = 'code';
END;
