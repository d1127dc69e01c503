-- The person who last made the permissions of a channel or group longer, if not its creator. The text counts for this person.
ALTER TABLE channels.channel ADD permissions_by int;
ALTER TABLE users.user_group ADD permissions_by int;
