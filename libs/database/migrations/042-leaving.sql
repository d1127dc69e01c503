-- Users who left channels with this event, and whose messages of them are still unread.
CREATE TABLE messaging.leaving (
  realm_id int NOT NULL,
  number bigint NOT NULL,
  user_id int NOT NULL,
  PRIMARY KEY (realm_id, number, user_id)
);

-- Receivers of a message are found by its channel.
CREATE INDEX subscription_period_receiver ON messaging.subscription_period (realm_id, channel_id, user_id, from_id);
-- The newest arrivals tell whether a period that ends has any.
CREATE INDEX arrival_number ON messaging.arrival (realm_id, number);
