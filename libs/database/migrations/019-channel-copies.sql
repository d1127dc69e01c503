-- 016 took the names of renamed channels from their owner. A process of the release before it that still ran could write an old
-- name back afterwards. Take every column of messaging's copy from the owner once more; events that wait are applied over it.
UPDATE messaging.channel copy SET name = original.name, is_private = original.is_private, is_web_public = original.is_web_public,
  is_archived = original.is_archived, history_public = original.history_public
FROM channels.channel original
WHERE original.realm_id = copy.realm_id AND original.id = copy.channel_id
  AND (copy.name, copy.is_private, copy.is_web_public, copy.is_archived, copy.history_public)
    IS DISTINCT FROM (original.name, original.is_private, original.is_web_public, original.is_archived, original.history_public);
