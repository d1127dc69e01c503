-- How much each account keeps in bot_storage. Triggers count it, so that statements of the previous release count too.
CREATE TABLE users.bot_storage_size (
  user_id int PRIMARY KEY REFERENCES users.account (id),
  entries int NOT NULL,
  bytes bigint NOT NULL
);
CREATE FUNCTION users.count_bot_storage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO users.bot_storage_size AS s (user_id, entries, bytes)
    SELECT user_id, count(*), sum(octet_length(key) + octet_length(value)) FROM added GROUP BY user_id
    ON CONFLICT (user_id) DO UPDATE SET entries = s.entries + excluded.entries, bytes = s.bytes + excluded.bytes;
  ELSIF TG_OP = 'UPDATE' THEN
    UPDATE users.bot_storage_size s SET bytes = s.bytes + d.bytes
    FROM (SELECT user_id, sum(bytes) AS bytes FROM (
        SELECT user_id, octet_length(value) AS bytes FROM added UNION ALL SELECT user_id, -octet_length(value) FROM removed) b
      GROUP BY user_id) d
    WHERE s.user_id = d.user_id;
  ELSE
    UPDATE users.bot_storage_size s SET entries = s.entries - d.entries, bytes = s.bytes - d.bytes
    FROM (SELECT user_id, count(*) AS entries, sum(octet_length(key) + octet_length(value)) AS bytes FROM removed GROUP BY user_id) d
    WHERE s.user_id = d.user_id;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER count_added AFTER INSERT ON users.bot_storage REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION users.count_bot_storage();
CREATE TRIGGER count_changed AFTER UPDATE ON users.bot_storage REFERENCING OLD TABLE AS removed NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION users.count_bot_storage();
CREATE TRIGGER count_removed AFTER DELETE ON users.bot_storage REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION users.count_bot_storage();
-- The triggers hold off writes until the commit, so that none is counted twice or not at all.
INSERT INTO users.bot_storage_size (user_id, entries, bytes)
SELECT user_id, count(*), sum(octet_length(key) + octet_length(value)) FROM users.bot_storage GROUP BY user_id;
