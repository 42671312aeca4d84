-- What compression keeps and where a session can go back to. Documents may be large, so rows lie in the
-- order they were written and the indexes hold only keys. The rows of prompt_ends that are of the kind
-- checkpoints say what the highest number at a turn or before it is.

CREATE TABLE checkpoints (
    id         INTEGER PRIMARY KEY,
    tenant     TEXT    NOT NULL,
    segment    INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    after_seq  INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    doc        TEXT    NOT NULL,
    UNIQUE (tenant, segment, number, version)
);

CREATE TABLE breakers (
    tenant     TEXT    NOT NULL,
    segment    INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    doc        TEXT    NOT NULL,
    PRIMARY KEY (tenant, segment)
) WITHOUT ROWID;

CREATE TABLE snapshots (
    id          INTEGER PRIMARY KEY,
    tenant      TEXT    NOT NULL,
    snapshot_id TEXT    NOT NULL,
    segment     INTEGER NOT NULL,
    after_seq   INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    doc         TEXT    NOT NULL,
    UNIQUE (tenant, snapshot_id)
);

CREATE INDEX snapshots_of_segment ON snapshots (tenant, segment, snapshot_id);
