-- Names are read from messaging.person and messaging.user_group. Nothing has written these copies since 040.
ALTER TABLE messaging.standing DROP COLUMN full_name;
DROP TABLE messaging.group_name;
