-- A narrow names one channel, and the open channels of a realm are read up to a number.
CREATE INDEX channel_copy_name ON messaging.channel (realm_id, lower(name));
CREATE INDEX channel_copy_public ON messaging.channel (realm_id, channel_id) WHERE NOT is_private;
CREATE INDEX channel_copy_web_public ON messaging.channel (realm_id, channel_id) WHERE is_web_public;
