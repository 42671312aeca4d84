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

-- The prompts that no later one of their segment ends with or before: the last one that ends at a turn
-- or before it is found in one step. It is made of prompts; mostly each ends later than those before
-- it, and then this is all of them.
CREATE TABLE prompt_ends (
    tenant  TEXT    NOT NULL,
    segment INTEGER NOT NULL,
    end_seq INTEGER NOT NULL,
    number  INTEGER NOT NULL,
    PRIMARY KEY (tenant, segment, end_seq)
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
