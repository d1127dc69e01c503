-- Answers under the ids of calls between processes are deleted after minutes, those under keys of clients after a day.
DO $$
DECLARE s text;
BEGIN
  FOREACH s IN ARRAY ARRAY['users', 'channels', 'messaging', 'event_queue', 'presence'] LOOP
    EXECUTE format('CREATE INDEX idempotency_call ON %I.idempotency (created_at) WHERE key LIKE ''call:%%''', s);
    EXECUTE format('CREATE INDEX idempotency_created ON %I.idempotency (created_at) WHERE key NOT LIKE ''call:%%''', s);
  END LOOP;
END $$;
