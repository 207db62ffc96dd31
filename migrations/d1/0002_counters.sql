-- Thread counters: each listed entry is counted in one row, and leaves it when it is deleted, archived or changes hands.

CREATE TRIGGER counters_gain AFTER INSERT ON entries WHEN NEW.listed = 1
BEGIN
  INSERT INTO thread_counters (org, thread_id, project, reader, entries, user_entries, multimodal, bytes, words, first_second, last_second, first_id, last_id)
    VALUES (NEW.org, NEW.thread_id, coalesce(NEW.project, ''), NEW.reader, 1, NEW.source = 'user', NEW.image_count > 0, NEW.bytes, NEW.text_words, NEW.created_second, NEW.created_second, NEW.id, NEW.id)
    ON CONFLICT (org, thread_id, project, reader) DO UPDATE SET
      entries = entries + 1, user_entries = user_entries + excluded.user_entries, multimodal = multimodal + excluded.multimodal,
      bytes = bytes + excluded.bytes, words = words + excluded.words,
      first_second = min(first_second, excluded.first_second), last_second = max(last_second, excluded.last_second),
      first_id = min(first_id, excluded.first_id), last_id = max(last_id, excluded.last_id);
END;

CREATE TRIGGER counters_loss AFTER DELETE ON entries WHEN OLD.listed = 1
BEGIN
  UPDATE thread_counters SET
      entries = entries - 1, user_entries = user_entries - (OLD.source = 'user'), multimodal = multimodal - (OLD.image_count > 0),
      bytes = bytes - OLD.bytes, words = words - OLD.text_words,
      first_second = CASE WHEN OLD.created_second > first_second OR entries = 1 THEN first_second ELSE
        (SELECT created_second FROM entries WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND coalesce(project, '') = coalesce(OLD.project, '') AND reader = OLD.reader ORDER BY created_second LIMIT 1) END,
      last_second = CASE WHEN OLD.created_second < last_second OR entries = 1 THEN last_second ELSE
        (SELECT created_second FROM entries WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND coalesce(project, '') = coalesce(OLD.project, '') AND reader = OLD.reader ORDER BY created_second DESC LIMIT 1) END,
      first_id = CASE WHEN OLD.id > first_id OR entries = 1 THEN first_id ELSE
        (SELECT id FROM entries WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND coalesce(project, '') = coalesce(OLD.project, '') AND reader = OLD.reader ORDER BY id LIMIT 1) END,
      last_id = CASE WHEN OLD.id < last_id OR entries = 1 THEN last_id ELSE
        (SELECT id FROM entries WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND coalesce(project, '') = coalesce(OLD.project, '') AND reader = OLD.reader ORDER BY id DESC LIMIT 1) END
    WHERE org = OLD.org AND thread_id = OLD.thread_id AND project = coalesce(OLD.project, '') AND reader = OLD.reader;
  DELETE FROM thread_counters WHERE org = OLD.org AND thread_id = OLD.thread_id AND project = coalesce(OLD.project, '') AND reader = OLD.reader AND entries = 0;
END;

CREATE TRIGGER counters_left AFTER UPDATE OF archived, diary, audience, project, image_count, bytes, text_words ON entries
  WHEN OLD.listed = 1 AND (NEW.listed, NEW.project, NEW.reader, NEW.image_count, NEW.bytes, NEW.text_words) IS NOT (OLD.listed, OLD.project, OLD.reader, OLD.image_count, OLD.bytes, OLD.text_words)
BEGIN
  UPDATE thread_counters SET
      entries = entries - 1, user_entries = user_entries - (OLD.source = 'user'), multimodal = multimodal - (OLD.image_count > 0),
      bytes = bytes - OLD.bytes, words = words - OLD.text_words,
      first_second = CASE WHEN OLD.created_second > first_second OR entries = 1 THEN first_second ELSE
        coalesce((SELECT created_second FROM entries WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND coalesce(project, '') = coalesce(OLD.project, '') AND reader = OLD.reader ORDER BY created_second LIMIT 1), first_second) END,
      last_second = CASE WHEN OLD.created_second < last_second OR entries = 1 THEN last_second ELSE
        coalesce((SELECT created_second FROM entries WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND coalesce(project, '') = coalesce(OLD.project, '') AND reader = OLD.reader ORDER BY created_second DESC LIMIT 1), last_second) END,
      first_id = CASE WHEN OLD.id > first_id OR entries = 1 THEN first_id ELSE
        coalesce((SELECT id FROM entries WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND coalesce(project, '') = coalesce(OLD.project, '') AND reader = OLD.reader ORDER BY id LIMIT 1), first_id) END,
      last_id = CASE WHEN OLD.id < last_id OR entries = 1 THEN last_id ELSE
        coalesce((SELECT id FROM entries WHERE listed = 1 AND org = OLD.org AND thread_id = OLD.thread_id AND coalesce(project, '') = coalesce(OLD.project, '') AND reader = OLD.reader ORDER BY id DESC LIMIT 1), last_id) END
    WHERE org = OLD.org AND thread_id = OLD.thread_id AND project = coalesce(OLD.project, '') AND reader = OLD.reader;
  DELETE FROM thread_counters WHERE org = OLD.org AND thread_id = OLD.thread_id AND project = coalesce(OLD.project, '') AND reader = OLD.reader AND entries = 0;
END;

CREATE TRIGGER counters_joined AFTER UPDATE OF archived, diary, audience, project, image_count, bytes, text_words ON entries
  WHEN NEW.listed = 1 AND (NEW.listed, NEW.project, NEW.reader, NEW.image_count, NEW.bytes, NEW.text_words) IS NOT (OLD.listed, OLD.project, OLD.reader, OLD.image_count, OLD.bytes, OLD.text_words)
BEGIN
  INSERT INTO thread_counters (org, thread_id, project, reader, entries, user_entries, multimodal, bytes, words, first_second, last_second, first_id, last_id)
    VALUES (NEW.org, NEW.thread_id, coalesce(NEW.project, ''), NEW.reader, 1, NEW.source = 'user', NEW.image_count > 0, NEW.bytes, NEW.text_words, NEW.created_second, NEW.created_second, NEW.id, NEW.id)
    ON CONFLICT (org, thread_id, project, reader) DO UPDATE SET
      entries = entries + 1, user_entries = user_entries + excluded.user_entries, multimodal = multimodal + excluded.multimodal,
      bytes = bytes + excluded.bytes, words = words + excluded.words,
      first_second = min(first_second, excluded.first_second), last_second = max(last_second, excluded.last_second),
      first_id = min(first_id, excluded.first_id), last_id = max(last_id, excluded.last_id);
END;
