-- What addresses of images of other sites are signed with. Every process of messaging reads it.
CREATE TABLE messaging.external_content_secret (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  secret text NOT NULL
);
INSERT INTO messaging.external_content_secret (secret) VALUES (gen_random_uuid()::text || gen_random_uuid()::text);
