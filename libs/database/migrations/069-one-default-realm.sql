-- Requests to unknown hosts go to the default realm, so there is at most one. The oldest one stays.
UPDATE users.realm SET is_default = false WHERE is_default AND id > (SELECT min(id) FROM users.realm WHERE is_default);
CREATE UNIQUE INDEX realm_default ON users.realm (is_default) WHERE is_default;
