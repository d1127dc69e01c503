-- Events of mutes whose messages are not all corrected.
CREATE INDEX mute_change_unfinished ON messaging.mute_change (realm_id) WHERE corrected < through;

-- Processes of the previous release write and read these copies of names, which 077 dropped. This release writes and reads
-- messaging.person and messaging.user_group, and triggers keep the copies equal. The next release drops the copies with the
-- triggers.
CREATE TABLE messaging.group_name (
  realm_id int NOT NULL,
  group_id int NOT NULL,
  name text NOT NULL,
  PRIMARY KEY (realm_id, group_id)
);

CREATE FUNCTION messaging.copy_group_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO messaging.group_name (realm_id, group_id, name) VALUES (NEW.realm_id, NEW.group_id, NEW.name)
  ON CONFLICT (realm_id, group_id) DO UPDATE SET name = excluded.name;
  RETURN NULL;
END $$;
CREATE TRIGGER copy_name AFTER INSERT OR UPDATE OF name ON messaging.user_group FOR EACH ROW EXECUTE FUNCTION messaging.copy_group_name();

-- The consumer that writes the copies may be behind the one that writes the names, or insert rows without a name.
CREATE FUNCTION messaging.take_group_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.name := coalesce((SELECT g.name FROM messaging.user_group g
    WHERE g.realm_id = NEW.realm_id AND g.group_id = NEW.group_id), NEW.name);
  RETURN NEW;
END $$;
CREATE TRIGGER take_name BEFORE INSERT OR UPDATE ON messaging.group_name FOR EACH ROW EXECUTE FUNCTION messaging.take_group_name();

-- Two consumers insert the row of a user and its copy. Neither sees what the other one has not committed, so the lock
-- `copied-names` lets the second one wait for the first one. Each user has a lock, so that a consumer that holds the copies of
-- some users waits for no other user.
CREATE FUNCTION messaging.copy_person_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND NEW.full_name = OLD.full_name THEN RETURN NULL; END IF;
  PERFORM pg_advisory_xact_lock(7315, NEW.user_id);
  UPDATE messaging.standing SET full_name = NEW.full_name
  WHERE realm_id = NEW.realm_id AND user_id = NEW.user_id AND full_name <> NEW.full_name;
  RETURN NULL;
END $$;
CREATE TRIGGER copy_name AFTER INSERT OR UPDATE OF full_name ON messaging.person FOR EACH ROW EXECUTE FUNCTION messaging.copy_person_name();

-- An update of a copy waits for no lock: it holds the row, for which the other consumer may wait with the lock.
CREATE FUNCTION messaging.take_person_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN PERFORM pg_advisory_xact_lock(7315, NEW.user_id); END IF;
  NEW.full_name := coalesce((SELECT p.full_name FROM messaging.person p
    WHERE p.realm_id = NEW.realm_id AND p.user_id = NEW.user_id), NEW.full_name);
  RETURN NEW;
END $$;

-- Last, because every send reads this table: it is locked for an instant, and no other lock is awaited meanwhile.
ALTER TABLE messaging.standing ADD COLUMN full_name text NOT NULL DEFAULT '';
CREATE TRIGGER take_name BEFORE INSERT OR UPDATE ON messaging.standing FOR EACH ROW EXECUTE FUNCTION messaging.take_person_name();
