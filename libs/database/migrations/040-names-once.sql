-- Names of users are read from messaging.person alone. The column is dropped when no process that writes it is left.
ALTER TABLE messaging.standing ALTER COLUMN full_name SET DEFAULT '';
