-- How requests were to reach the kernel, as asked: a resumed run keeps to it.
ALTER TABLE run ADD COLUMN engine_choice TEXT NOT NULL DEFAULT 'auto';
