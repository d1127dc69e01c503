-- The person who created a bot. NULL: it was created by a process of an earlier release; then it counts for its owner.
ALTER TABLE users.account ADD created_by int;
CREATE INDEX account_created_bots ON users.account ((coalesce(created_by, bot_owner_id))) WHERE is_bot;
