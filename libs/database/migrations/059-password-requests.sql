-- Requests for a link to set a password, also for addresses without an account, until the users service has served them.
-- `due_at`: when the process that serves the request counts as lost.
CREATE TABLE users.password_request (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  realm_id int NOT NULL,
  email text NOT NULL,
  network text NOT NULL,
  requested_at timestamptz NOT NULL DEFAULT now(),
  due_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX password_request_due ON users.password_request (due_at);
