-- The bots of the type outgoing webhook.
CREATE TABLE messaging.outgoing_webhook (
  realm_id int NOT NULL,
  user_id int NOT NULL,
  -- When the owner was last told of failures.
  told_at timestamptz,
  PRIMARY KEY (realm_id, user_id)
);
INSERT INTO messaging.consumer (realm_id, name, position) SELECT realm_id, 'outgoing-webhooks', number FROM log.clock ON CONFLICT DO NOTHING;
INSERT INTO messaging.outgoing_webhook (realm_id, user_id) SELECT realm_id, id FROM users.account WHERE bot_type = 3;

-- A message that is to be posted to the address of a bot. The transaction that stores the bot's reply deletes the row.
CREATE TABLE messaging.webhook_delivery (
  realm_id int NOT NULL,
  bot_id int NOT NULL,
  message_id bigint NOT NULL,
  failures int NOT NULL DEFAULT 0,
  -- A process that posts the message moves it into the future, so that another one continues if that process dies.
  due_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (realm_id, bot_id, message_id)
);
CREATE INDEX webhook_delivery_due ON messaging.webhook_delivery (due_at);
