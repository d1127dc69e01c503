-- Things that a bot made count for the person who created the bot, also after the bot was given to others. NULL for people
-- and for bots of the system. The triggers set it, so that rows of processes of the previous release have it too.
CREATE FUNCTION log.note_creator() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.created_by := coalesce(NEW.created_by, NEW.bot_owner_id);
  RETURN NEW;
END $$;

-- The lock of the trigger comes before those of rows, so that no row is missed and no unit of work waits in a circle.
CREATE TRIGGER note_creator BEFORE INSERT ON users.account FOR EACH ROW EXECUTE FUNCTION log.note_creator();
UPDATE users.account SET created_by = bot_owner_id WHERE is_bot AND created_by IS NULL AND bot_owner_id IS NOT NULL;

ALTER TABLE channels.person ADD created_by int;
CREATE TRIGGER note_creator BEFORE INSERT ON channels.person FOR EACH ROW EXECUTE FUNCTION log.note_creator();
UPDATE channels.person p SET created_by = a.created_by FROM users.account a
WHERE a.id = p.user_id AND a.realm_id = p.realm_id AND a.created_by IS NOT NULL;
CREATE INDEX person_created_bots ON channels.person (realm_id, created_by) WHERE created_by IS NOT NULL;

ALTER TABLE messaging.standing ADD created_by int;
CREATE TRIGGER note_creator BEFORE INSERT ON messaging.standing FOR EACH ROW EXECUTE FUNCTION log.note_creator();
UPDATE messaging.standing s SET created_by = a.created_by FROM users.account a
WHERE a.id = s.user_id AND a.realm_id = s.realm_id AND a.created_by IS NOT NULL;

-- The person for whom an upload counts. NULL: a process of the previous release created it; then it counts for its owner.
ALTER TABLE messaging.resumable_upload ADD person_id int;
CREATE INDEX resumable_upload_person ON messaging.resumable_upload (realm_id, (coalesce(person_id, owner_id)));
