-- What every service has: stored answers of idempotent requests, positions of its consumers, and events they could not handle.
DO $$
DECLARE s text;
BEGIN
  FOREACH s IN ARRAY ARRAY['users', 'channels', 'messaging', 'event_queue', 'presence'] LOOP
    EXECUTE format('CREATE TABLE %I.idempotency (
      realm_id int NOT NULL, user_id int NOT NULL, key text NOT NULL, fingerprint text NOT NULL,
      answer json, id_offset int, first_number bigint, created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (realm_id, user_id, key))', s);
    EXECUTE format('CREATE TABLE %I.consumer (realm_id int NOT NULL, name text NOT NULL, position bigint NOT NULL, PRIMARY KEY (realm_id, name))', s);
    EXECUTE format('CREATE TABLE %I.parked_event (realm_id int NOT NULL, name text NOT NULL, number bigint NOT NULL, error text NOT NULL, parked_at timestamptz NOT NULL DEFAULT now())', s);
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'natter_' || s) THEN
      EXECUTE format('CREATE ROLE %I LOGIN', 'natter_' || s);
    END IF;
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', s, 'natter_' || s);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %I TO %I', s, 'natter_' || s);
    EXECUTE format('GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA %I TO %I', s, 'natter_' || s);
    EXECUTE format('GRANT USAGE ON SCHEMA log TO %I', 'natter_' || s);
    EXECUTE format('GRANT EXECUTE ON FUNCTION log.append, log.last_number, log.position, log.versions, log.read, log.read_types, log.realms TO %I', 'natter_' || s);
  END LOOP;
  GRANT EXECUTE ON FUNCTION log.create_realm TO natter_users;
  GRANT EXECUTE ON FUNCTION log.new_epoch, log.prepare_partitions TO natter_event_queue;
END $$;
