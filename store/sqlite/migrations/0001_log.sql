PRAGMA application_id = 0x5475726e; -- "Turn"

-- A segment is never given out twice, not even after its session is gone.
CREATE TABLE sessions (
    segment       INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant        TEXT    NOT NULL,
    session_id    TEXT    NOT NULL,
    user_id       TEXT    NOT NULL,
    title         TEXT    NOT NULL,
    model         TEXT    NOT NULL,
    mode          TEXT    NOT NULL,
    status        TEXT    NOT NULL,
    parent_id     TEXT,
    fork_seq      INTEGER NOT NULL,
    head_seq      INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    last_activity INTEGER NOT NULL,
    UNIQUE (tenant, session_id)
);
CREATE INDEX sessions_newest ON sessions (tenant, segment);
CREATE INDEX sessions_of_user ON sessions (tenant, user_id, segment);

CREATE TABLE spans (
    tenant   TEXT    NOT NULL,
    heir     INTEGER NOT NULL,
    position INTEGER NOT NULL,
    segment  INTEGER NOT NULL,
    from_seq INTEGER NOT NULL,
    to_seq   INTEGER NOT NULL,
    PRIMARY KEY (tenant, heir, position)
) WITHOUT ROWID;

CREATE TABLE bookmarks (
    tenant     TEXT    NOT NULL,
    session_id TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    seq        INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, session_id, name)
) WITHOUT ROWID;

CREATE TABLE leases (
    tenant     TEXT    NOT NULL,
    session_id TEXT    NOT NULL,
    token      TEXT    NOT NULL,
    until      INTEGER NOT NULL,
    PRIMARY KEY (tenant, session_id)
) WITHOUT ROWID;

-- Rows lie in the order they were written, whoever wrote them: what is folded into one commit then
-- lies side by side. Clustered by session a commit of many sessions would change far more pages.
--
-- A turn that is no utterance knows a seq before it from which on, up to itself, there is no other
-- utterance. Who reads utterances backwards jumps over any number of other turns that way, without
-- an index that every append would have to write to.
CREATE TABLE turns (
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
    content         TEXT    NOT NULL,
    UNIQUE (tenant, segment, seq)
);
CREATE UNIQUE INDEX turns_by_id ON turns (tenant, turn_id, segment);
CREATE UNIQUE INDEX turns_by_key ON turns (tenant, segment, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX turns_by_unit ON turns (tenant, segment, unit_seq, seq) WHERE unit_seq IS NOT NULL;

CREATE TABLE open_calls (
    tenant   TEXT    NOT NULL,
    segment  INTEGER NOT NULL,
    call_id  TEXT    NOT NULL,
    name     TEXT    NOT NULL,
    unit_seq INTEGER NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (tenant, segment, call_id)
) WITHOUT ROWID;

CREATE TABLE completed_flows (
    tenant    TEXT    NOT NULL,
    segment   INTEGER NOT NULL,
    flow_id   TEXT    NOT NULL,
    after_seq INTEGER NOT NULL,
    position  INTEGER NOT NULL,
    PRIMARY KEY (tenant, segment, flow_id)
) WITHOUT ROWID;

CREATE TABLE blobs (
    id        INTEGER PRIMARY KEY,
    tenant    TEXT    NOT NULL,
    sha256    TEXT    NOT NULL,
    size      INTEGER NOT NULL,
    wanted_at INTEGER NOT NULL,
    data      BLOB    NOT NULL,
    UNIQUE (tenant, sha256)
);

CREATE TABLE blob_refs (
    tenant  TEXT    NOT NULL,
    sha256  TEXT    NOT NULL,
    segment INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    PRIMARY KEY (tenant, sha256, segment, seq)
) WITHOUT ROWID;

CREATE TABLE revisions (
    tenant     TEXT    NOT NULL,
    segment    INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    after_seq  INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    state      TEXT    NOT NULL,
    PRIMARY KEY (tenant, segment, number)
) WITHOUT ROWID;

CREATE TABLE flow_turns (
    tenant  TEXT    NOT NULL,
    segment INTEGER NOT NULL,
    flow_id TEXT    NOT NULL,
    turn_id TEXT    NOT NULL,
    seq     INTEGER NOT NULL,
    PRIMARY KEY (tenant, segment, flow_id, turn_id)
) WITHOUT ROWID;

-- The full-text index: the terms of a turn and the name of its segment, under the turn's rowid. It
-- keeps no texts, no positions and no sizes. With the segment as a term, a search in one session
-- does not look at the turns of others.
CREATE VIRTUAL TABLE turn_text USING fts5 (
    terms, content = '', columnsize = 0, detail = none, tokenize = "ascii tokenchars '_'"
);

-- Up to which seq the turns of a segment are in it.
CREATE TABLE text_marks (
    tenant      TEXT    NOT NULL,
    segment     INTEGER NOT NULL,
    through_seq INTEGER NOT NULL,
    PRIMARY KEY (tenant, segment)
) WITHOUT ROWID;
