-- The origin of links to the realm: scheme, host and port. NULL: https, or http on a loopback address, and the realm's host.
ALTER TABLE users.realm ADD COLUMN url text;
