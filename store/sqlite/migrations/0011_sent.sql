-- When exports were sent, once for all that were sent together, so that publishing still writes to no export: those
-- behind the publication before it, up to this number. It is null for those that were sent before it was noted.
CREATE TABLE publications (
    through INTEGER PRIMARY KEY,
    sent_at INTEGER
);
INSERT INTO publications (through, sent_at) SELECT position, NULL FROM relay WHERE position > 0;
