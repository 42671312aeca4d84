-- What a turn commit writes. Every commit adds to all of these tables at once, so rows lie in the
-- order they were written and each index has one place where new rows go, or few: what is folded into
-- one transaction then changes few pages. What would scatter is looked up in indexes that are filled
-- in the background.

CREATE TABLE intentions (
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
    change     TEXT    NOT NULL,
    UNIQUE (tenant, segment, kind, id, version)
);

-- The goals and actions of a segment, and after which turn each ended, null while it is live: what is
-- live is found without looking at what is not. It is made of intentions and written to only when one
-- begins or ends.
CREATE TABLE intention_heads (
    tenant  TEXT    NOT NULL,
    segment INTEGER NOT NULL,
    kind    TEXT    NOT NULL,
    id      TEXT    NOT NULL,
    ended   INTEGER,
    PRIMARY KEY (tenant, segment, kind, id)
) WITHOUT ROWID;
CREATE INDEX intention_heads_ended ON intention_heads (tenant, segment, ended);

CREATE TABLE observations (
    id             INTEGER PRIMARY KEY,
    tenant         TEXT    NOT NULL,
    segment        INTEGER NOT NULL,
    observation_id TEXT    NOT NULL,
    type           TEXT    NOT NULL,
    status         TEXT    NOT NULL,
    changed_at     INTEGER NOT NULL,
    expires_at     INTEGER NOT NULL,
    sweep_at       INTEGER NOT NULL DEFAULT 0,
    doc            TEXT    NOT NULL,
    UNIQUE (tenant, segment, observation_id)
);
CREATE INDEX observations_live ON observations (segment) WHERE status <> 'archived';
-- No observation expires before its sweep_at. One that is written again mostly expires later than before:
-- its sweep_at stays, so that no index is written to, until a sweep finds it and puts it right.
CREATE INDEX observations_by_sweep ON observations (sweep_at);

CREATE TABLE memory_items (
    id          INTEGER PRIMARY KEY,
    tenant      TEXT    NOT NULL,
    item_id     TEXT    NOT NULL,
    segment     INTEGER NOT NULL,
    session_id  TEXT    NOT NULL,
    user_id     TEXT    NOT NULL,
    type        TEXT    NOT NULL,
    importance  INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER,
    archived_at INTEGER,
    text        TEXT    NOT NULL,
    about       TEXT    NOT NULL,
    data        TEXT,
    UNIQUE (tenant, item_id)
);

-- The index of memory, under the item's rowid: its terms, and as terms whose it is, of which session
-- and type, how important it is, when it was made and when it expires. It keeps no texts, no positions
-- and no sizes.
CREATE VIRTUAL TABLE memory_text USING fts5 (
    terms, content = '', columnsize = 0, detail = none, tokenize = "ascii tokenchars '_'"
);
CREATE VIRTUAL TABLE memory_text_terms USING fts5vocab (memory_text, row);

-- Up to which rowid items are in it, piece by piece as they were added: the last piece is the mark.
-- No item up to and including the piece has a higher id than ceiling, none of the piece a lower one
-- than floor.
CREATE TABLE memory_pieces (
    through INTEGER PRIMARY KEY,
    floor   TEXT NOT NULL,
    ceiling TEXT NOT NULL
);

-- Has a row while the index still holds words of items that somebody deleted.
CREATE TABLE memory_forgotten (
    id INTEGER PRIMARY KEY
);

CREATE TABLE digests (
    id          INTEGER PRIMARY KEY,
    tenant      TEXT    NOT NULL,
    segment     INTEGER NOT NULL,
    through_seq INTEGER NOT NULL,
    changed_at  INTEGER NOT NULL,
    doc         TEXT    NOT NULL,
    UNIQUE (tenant, segment)
);

-- There is one writer at a time, so that exports become visible in the order of their numbers. One is
-- given when the row is written and holds from the moment that the relay's position has reached it:
-- what waits is what lies behind the position, and publishing writes to no export.
CREATE TABLE exports (
    sent_number INTEGER PRIMARY KEY,
    tenant      TEXT    NOT NULL,
    export_id   TEXT    NOT NULL,
    session_id  TEXT    NOT NULL,
    segment     INTEGER NOT NULL,
    turn_id     TEXT    NOT NULL,
    first_seq   INTEGER NOT NULL,
    last_seq    INTEGER NOT NULL,
    status      TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    body        TEXT    NOT NULL,
    UNIQUE (tenant, export_id)
);
CREATE INDEX exports_by_turn ON exports (tenant, turn_id);

-- How far exports are published, up to where their bodies are swept, and who is publishing.
CREATE TABLE relay (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    position INTEGER NOT NULL,
    swept    INTEGER NOT NULL,
    holder   TEXT    NOT NULL,
    until    INTEGER NOT NULL
);
INSERT INTO relay (id, position, swept, holder, until) VALUES (1, 0, 0, '', 0);

CREATE TABLE deferrals (
    tenant       TEXT    NOT NULL,
    export_id    TEXT    NOT NULL,
    target       TEXT    NOT NULL,
    session_id   TEXT    NOT NULL,
    payload      TEXT    NOT NULL,
    tries        INTEGER NOT NULL,
    next_at      INTEGER NOT NULL,
    error        TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    escalated_at INTEGER,
    PRIMARY KEY (tenant, export_id, target)
) WITHOUT ROWID;
CREATE INDEX deferrals_oldest ON deferrals (tenant, created_at, export_id, target);
CREATE INDEX deferrals_due ON deferrals (next_at, tenant, export_id, target) WHERE escalated_at IS NULL;
CREATE INDEX deferrals_given_up ON deferrals (escalated_at) WHERE escalated_at IS NOT NULL;

CREATE TABLE events (
    tenant     TEXT    NOT NULL,
    event_id   TEXT    NOT NULL,
    session_id TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    turn_id    TEXT,
    data       TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, event_id)
) WITHOUT ROWID;
CREATE INDEX events_of_session ON events (tenant, session_id, event_id);

CREATE TABLE daemons (
    tenant  TEXT    NOT NULL,
    name    TEXT    NOT NULL,
    through INTEGER NOT NULL,
    holder  TEXT,
    until   INTEGER,
    PRIMARY KEY (tenant, name)
) WITHOUT ROWID;

CREATE TABLE dead_letters (
    tenant     TEXT    NOT NULL,
    daemon     TEXT    NOT NULL,
    export_id  TEXT    NOT NULL,
    session_id TEXT    NOT NULL,
    turn_id    TEXT    NOT NULL,
    tries      INTEGER NOT NULL,
    error      TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, daemon, export_id)
) WITHOUT ROWID;
CREATE INDEX dead_letters_newest ON dead_letters (tenant, created_at DESC, export_id, daemon);
CREATE INDEX dead_letters_of_daemon ON dead_letters (tenant, daemon, created_at DESC, export_id);

CREATE TABLE trace_parts (
    id         INTEGER PRIMARY KEY,
    tenant     TEXT    NOT NULL,
    turn_id    TEXT    NOT NULL,
    part_id    TEXT    NOT NULL,
    segment    INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    body       TEXT    NOT NULL,
    UNIQUE (tenant, turn_id, part_id)
);
