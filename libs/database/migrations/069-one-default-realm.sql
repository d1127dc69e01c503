-- Requests to unknown hosts go to the default realm, so there is at most one. The oldest active one stays.
UPDATE users.realm SET is_default = false
WHERE is_default AND id <> (SELECT id FROM users.realm WHERE is_default ORDER BY is_deactivated, id LIMIT 1);
CREATE UNIQUE INDEX realm_default ON users.realm (is_default) WHERE is_default;
