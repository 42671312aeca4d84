-- What prompts are compiled from and what was learned about models. Documents may be large, so rows lie
-- in the order they were written and the indexes hold only keys.

CREATE TABLE epochs (
    id         INTEGER PRIMARY KEY,
    tenant     TEXT    NOT NULL,
    segment    INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    after_seq  INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    doc        TEXT    NOT NULL,
    UNIQUE (tenant, segment, number)
);

CREATE TABLE prompts (
    id         INTEGER PRIMARY KEY,
    tenant     TEXT    NOT NULL,
    segment    INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    end_seq    INTEGER NOT NULL,
    epoch      INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    sha256     TEXT    NOT NULL,
    doc        TEXT    NOT NULL,
    UNIQUE (tenant, segment, number)
);

-- The epochs and prompts that no later one of their segment stands at or before: the last one at a turn
-- or before it is found in one step. Kind is the table, end_seq its after_seq or end_seq. It is made
-- of those tables; mostly each row of them stands later than those before it, and then all are here.
CREATE TABLE prompt_ends (
    tenant  TEXT    NOT NULL,
    segment INTEGER NOT NULL,
    kind    TEXT    NOT NULL,
    end_seq INTEGER NOT NULL,
    number  INTEGER NOT NULL,
    PRIMARY KEY (tenant, segment, kind, end_seq)
) WITHOUT ROWID;

CREATE TABLE pins (
    tenant     TEXT    NOT NULL,
    segment    INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    after_seq  INTEGER NOT NULL,
    seq        INTEGER NOT NULL,
    pinned     INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, segment, number)
) WITHOUT ROWID;

CREATE TABLE materials (
    id         INTEGER PRIMARY KEY,
    tenant     TEXT    NOT NULL,
    sha256     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    text       TEXT    NOT NULL,
    UNIQUE (tenant, sha256)
);

CREATE TABLE calibrations (
    tenant     TEXT    NOT NULL,
    model      TEXT    NOT NULL,
    changed_at INTEGER NOT NULL,
    doc        TEXT    NOT NULL,
    PRIMARY KEY (tenant, model)
) WITHOUT ROWID;
