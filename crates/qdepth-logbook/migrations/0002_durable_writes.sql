-- Durability that writes waited for, and the parts of writes that a sync belongs to. NULL for others.
ALTER TABLE point ADD COLUMN durability TEXT;
ALTER TABLE point ADD COLUMN write_part BLOB;
ALTER TABLE point ADD COLUMN sync_part BLOB;
