-- What ended the window of a point, and the precision that it was to have. Older points lasted
-- their time, or have a finding that says otherwise.
ALTER TABLE point ADD COLUMN ended_by TEXT NOT NULL DEFAULT 'duration';
ALTER TABLE point ADD COLUMN tolerance REAL;
ALTER TABLE point ADD COLUMN looks INTEGER NOT NULL DEFAULT 0;
