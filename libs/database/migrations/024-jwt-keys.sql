-- The key with which another system signs tokens for the users of a realm, and the only algorithm that is accepted. Sealed like keys of bots.
CREATE TABLE users.jwt_key (
  realm_id int PRIMARY KEY REFERENCES users.realm (id),
  algorithm text NOT NULL CHECK (algorithm IN ('HS256', 'HS384', 'HS512', 'RS256')),
  sealed_key text NOT NULL
);
