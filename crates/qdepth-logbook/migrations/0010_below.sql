-- Of a medium whose own error is known: the rate under which a measured one is below what is
-- expected. NULL where nobody knows the error.
ALTER TABLE expected ADD COLUMN below_io_per_s REAL;
