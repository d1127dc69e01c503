-- Notices that could not be sent have no author who could schedule them again. They are deleted since this version.
DELETE FROM messaging.scheduled_message WHERE state = 'failed' AND kind = 'notice';
