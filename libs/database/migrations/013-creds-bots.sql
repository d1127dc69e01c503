-- Who read the key of a bot without owning it: the key ends when the bot is put above them, or they are deactivated.
ALTER TABLE users.bot ADD key_readers int[] NOT NULL DEFAULT '{}';
