-- Some totals count what a person and their bots have.
CREATE INDEX CONCURRENTLY IF NOT EXISTS standing_bots ON messaging.standing (realm_id, (coalesce(created_by, bot_owner_id))) WHERE coalesce(created_by, bot_owner_id) IS NOT NULL;
