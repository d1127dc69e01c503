-- For whom the pages are fetched: the sender or, of a bot, the person who created it. 0: a process of the previous release wrote the row.
ALTER TABLE messaging.link_preview_job ADD caused_by int NOT NULL DEFAULT 0;
CREATE INDEX link_preview_job_turns ON messaging.link_preview_job (realm_id, caused_by, taken_until, message_id);
