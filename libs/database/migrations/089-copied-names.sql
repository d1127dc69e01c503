-- Fills the copies of names that 088 creates in a transaction that blocks no reader.
UPDATE messaging.standing s SET full_name = p.full_name FROM messaging.person p
WHERE p.realm_id = s.realm_id AND p.user_id = s.user_id AND p.full_name <> s.full_name;
INSERT INTO messaging.group_name (realm_id, group_id, name)
SELECT realm_id, group_id, name FROM messaging.user_group ON CONFLICT DO NOTHING;
