-- How long after its group a point began: what SNIA's host idle recovery is told by. Older points do
-- not say, and keep their digests.
ALTER TABLE point ADD COLUMN delay_ns INTEGER;
