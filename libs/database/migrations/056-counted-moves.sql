-- The request that was counted last, and its messages: a repetition of it, in this process or another one, is not counted again.
ALTER TABLE messaging.move_allowance ADD COLUMN counted_request text, ADD COLUMN counted int NOT NULL DEFAULT 0;
