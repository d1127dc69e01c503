-- A flag that was set while its message was being deleted was never removed. A register listed such a star for ever.
DELETE FROM messaging.flag f
WHERE NOT EXISTS (SELECT FROM messaging.message m WHERE m.realm_id = f.realm_id AND m.id = f.message_id);
