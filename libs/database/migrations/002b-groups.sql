ALTER TABLE users.user_group ADD creator_id int REFERENCES users.account (id);
ALTER TABLE users.user_group ADD is_deactivated boolean NOT NULL DEFAULT false;
-- Values of the group's own permissions; what is not here is `role:nobody` for a system group.
ALTER TABLE users.user_group ADD permissions jsonb NOT NULL DEFAULT '{}';
CREATE INDEX group_subgroup_subgroup ON users.group_subgroup (subgroup_id);
