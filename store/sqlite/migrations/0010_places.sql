-- Turns and intentions lie in the order they were written, but in the index of their keys every session has an end of its
-- own: once sessions have a history, each row changed a page that no other row of its commit did, and what a commit writes
-- grew with what was there. Therefore the index is in two parts. New rows go into a small one, where those of all sessions
-- share pages, and when it is full all of it goes into the large one, many rows of a session at a time.
--
-- A table keeps the indexes that its keys made, so both tables are written anew, once. What that leaves behind goes as
-- what was forgotten does, which is the file's third wish in the table of those.

CREATE TABLE turn_places (
    place INTEGER PRIMARY KEY, -- the segment in the upper 32 bits, the seq in the lower
    at    INTEGER NOT NULL     -- the turn's rowid
);
CREATE TABLE turn_places_new (
    place INTEGER PRIMARY KEY,
    at    INTEGER NOT NULL
);
INSERT INTO turn_places (place, at) SELECT (segment << 32) + seq, id FROM turns ORDER BY segment, seq;

CREATE TABLE placed_turns (
    id              INTEGER PRIMARY KEY,
    tenant          TEXT    NOT NULL,
    segment         INTEGER NOT NULL,
    seq             INTEGER NOT NULL,
    turn_id         TEXT    NOT NULL,
    role            TEXT    NOT NULL,
    form            TEXT    NOT NULL,
    kind            TEXT,
    created_at      INTEGER NOT NULL,
    unit_seq        INTEGER,
    message_id      TEXT,
    idempotency_key TEXT,
    covers_from     INTEGER,
    covers_to       INTEGER,
    meta            TEXT,
    quiet_since     INTEGER,
    content         TEXT    NOT NULL
);
INSERT INTO placed_turns (id, tenant, segment, seq, turn_id, role, form, kind, created_at, unit_seq, message_id,
        idempotency_key, covers_from, covers_to, meta, quiet_since, content)
    SELECT id, tenant, segment, seq, turn_id, role, form, kind, created_at, unit_seq, message_id,
        idempotency_key, covers_from, covers_to, meta, quiet_since, content FROM turns ORDER BY id;
DROP TABLE turns;
ALTER TABLE placed_turns RENAME TO turns;
CREATE UNIQUE INDEX turns_by_id ON turns (tenant, turn_id, segment);
CREATE UNIQUE INDEX turns_by_key ON turns (tenant, segment, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX turns_by_unit ON turns (tenant, segment, unit_seq, seq) WHERE unit_seq IS NOT NULL;

CREATE TABLE intention_places (
    tenant  TEXT    NOT NULL,
    segment INTEGER NOT NULL,
    kind    TEXT    NOT NULL,
    id      TEXT    NOT NULL,
    version INTEGER NOT NULL,
    at      INTEGER NOT NULL, -- the intention's rowid
    PRIMARY KEY (tenant, segment, kind, id, version)
) WITHOUT ROWID;
CREATE TABLE intention_places_new (
    tenant  TEXT    NOT NULL,
    segment INTEGER NOT NULL,
    kind    TEXT    NOT NULL,
    id      TEXT    NOT NULL,
    version INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (tenant, segment, kind, id, version)
) WITHOUT ROWID;
INSERT INTO intention_places (tenant, segment, kind, id, version, at)
    SELECT tenant, segment, kind, id, version, row FROM intentions ORDER BY tenant, segment, kind, id, version;

CREATE TABLE placed_intentions (
    row        INTEGER PRIMARY KEY,
    tenant     TEXT    NOT NULL,
    segment    INTEGER NOT NULL,
    kind       TEXT    NOT NULL,
    id         TEXT    NOT NULL,
    version    INTEGER NOT NULL,
    after_seq  INTEGER NOT NULL,
    live       INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    doc        TEXT    NOT NULL,
    change     TEXT    NOT NULL
);
INSERT INTO placed_intentions (row, tenant, segment, kind, id, version, after_seq, live, created_at, doc, change)
    SELECT row, tenant, segment, kind, id, version, after_seq, live, created_at, doc, change FROM intentions ORDER BY row;
DROP TABLE intentions;
ALTER TABLE placed_intentions RENAME TO intentions;

INSERT OR IGNORE INTO memory_forgotten (id) SELECT 3 FROM turns LIMIT 1;
