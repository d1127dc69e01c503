-- No service sends these events, and the contract no longer declares them.
UPDATE log.writer SET appends = (
  SELECT array_agg(type) FROM unnest(appends) type
  WHERE type NOT IN ('restart', 'web_reload_client', 'realm_billing', 'realm_filters', 'realm_export', 'has_zoom_token')
) WHERE role = 'natter_users';
