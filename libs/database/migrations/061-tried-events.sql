-- The event that a consumer was about to handle, and how many processes began with it. A process that an event ends cannot store that itself.
DO $$
DECLARE s text;
BEGIN
  FOREACH s IN ARRAY ARRAY['users', 'channels', 'messaging', 'event_queue', 'presence'] LOOP
    EXECUTE format('ALTER TABLE %I.consumer ADD COLUMN tried_number bigint, ADD COLUMN tried_at timestamptz, ADD COLUMN tries int NOT NULL DEFAULT 0', s);
  END LOOP;
END $$;
