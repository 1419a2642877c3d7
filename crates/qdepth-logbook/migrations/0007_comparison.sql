-- What the run compares (its columns, their roles, the base), as JSON; and the column that a point
-- belongs to, together with the other points of its group.
ALTER TABLE run ADD COLUMN comparison TEXT;
ALTER TABLE point ADD COLUMN variant INTEGER;
