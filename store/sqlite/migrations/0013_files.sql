-- Where ending a session wrote files of it, as a JSON list of paths: forgetting reaches them there. It is null where
-- there are none, and for what was written before it was noted.
ALTER TABLE sessions ADD COLUMN files TEXT;
