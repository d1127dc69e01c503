-- Changes of a message find its former subscribers, who are few beside the subscribers of a large channel.
CREATE INDEX CONCURRENTLY IF NOT EXISTS subscription_period_ended ON messaging.subscription_period (realm_id, channel_id, to_id) WHERE to_id IS NOT NULL;
