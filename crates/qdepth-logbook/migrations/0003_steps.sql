-- Points with the same group ran at the same time; a step is their name for people, the offered
-- load of an open loop is in I/Os per second over all streams, and workers are the threads that
-- the streams were dealt to.
ALTER TABLE point ADD COLUMN load_group INTEGER NOT NULL DEFAULT 0;
ALTER TABLE point ADD COLUMN step TEXT NOT NULL DEFAULT '';
ALTER TABLE point ADD COLUMN workers INTEGER NOT NULL DEFAULT 1;
ALTER TABLE point ADD COLUMN offered_io_per_s REAL;
