-- What was changed; everything else is the default that the contract names.
ALTER TABLE users.realm ADD settings jsonb NOT NULL DEFAULT '{}';
ALTER TABLE users.realm ADD permissions jsonb NOT NULL DEFAULT '{}';
ALTER TABLE users.realm ADD is_deactivated boolean NOT NULL DEFAULT false;

CREATE TABLE users.realm_domain (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  realm_id int NOT NULL REFERENCES users.realm (id),
  domain text NOT NULL,
  allow_subdomains boolean NOT NULL,
  UNIQUE (realm_id, domain)
);

CREATE TABLE users.linkifier (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  realm_id int NOT NULL REFERENCES users.realm (id),
  pattern text NOT NULL,
  url_template text NOT NULL,
  position int NOT NULL,
  UNIQUE (realm_id, pattern)
);

CREATE TABLE users.playground (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  realm_id int NOT NULL REFERENCES users.realm (id),
  name text NOT NULL,
  pygments_language text NOT NULL,
  url_template text NOT NULL,
  UNIQUE (realm_id, pygments_language, name)
);

-- A removed emoji stays, for the messages that show it.
CREATE TABLE users.realm_emoji (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  realm_id int NOT NULL REFERENCES users.realm (id),
  name text NOT NULL,
  author_id int REFERENCES users.account (id),
  is_deactivated boolean NOT NULL DEFAULT false,
  content_type text NOT NULL,
  picture bytea NOT NULL
);
CREATE UNIQUE INDEX realm_emoji_name ON users.realm_emoji (realm_id, name) WHERE NOT is_deactivated;

-- The row stays when its picture goes, so that a version is never given twice.
CREATE TABLE users.realm_picture (
  realm_id int NOT NULL REFERENCES users.realm (id),
  kind text NOT NULL,
  version int NOT NULL DEFAULT 1,
  content_type text NOT NULL,
  picture bytea,
  PRIMARY KEY (realm_id, kind)
);
