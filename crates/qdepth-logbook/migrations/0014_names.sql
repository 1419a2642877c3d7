-- The field's names. What is called anew is digested under its first name (digest.rs), so that no
-- digest changes.
ALTER TABLE target RENAME COLUMN spelling TO expression;
ALTER TABLE point RENAME COLUMN looks TO interim_checks;
ALTER TABLE witness RENAME TO monitor;
DROP TRIGGER IF EXISTS witness_is_final;
CREATE TRIGGER monitor_is_final BEFORE UPDATE ON monitor
BEGIN SELECT RAISE(ABORT, 'a measured point is never changed'); END;
UPDATE digest SET part = 'monitors' WHERE part = 'witnesses';
