-- When the owner of a bot was last told of failures of the bot, for each kind of failure.
CREATE TABLE messaging.owner_notice (
  realm_id int NOT NULL,
  bot_id int NOT NULL,
  kind text NOT NULL,
  told_at timestamptz NOT NULL,
  PRIMARY KEY (realm_id, bot_id, kind)
);
INSERT INTO messaging.owner_notice (realm_id, bot_id, kind, told_at)
SELECT realm_id, user_id, 'webhook', told_at FROM messaging.outgoing_webhook WHERE told_at IS NOT NULL;
ALTER TABLE messaging.outgoing_webhook DROP COLUMN told_at;
