-- What a server needs beside the conversations: an order of events that can be read page by page, keys, and the links
-- by which a client's history finds its session.

-- Events have their places from when they are first read, one after the other for each tenant. None is ever given
-- twice, which is why the last one is kept though its event may be deleted.
ALTER TABLE events ADD COLUMN place INTEGER;
DROP INDEX events_of_session;
CREATE INDEX events_by_place ON events (tenant, place, event_id);
CREATE INDEX events_of_session ON events (tenant, session_id, place, event_id);
CREATE TABLE event_places (
    tenant TEXT    NOT NULL PRIMARY KEY,
    last   INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE access_keys (
    tenant     TEXT    NOT NULL,
    key_id     TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    scopes     TEXT    NOT NULL,
    hash       BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER,
    PRIMARY KEY (tenant, key_id)
) WITHOUT ROWID;
-- Who shows a key does not say whose it is.
CREATE UNIQUE INDEX access_keys_by_id ON access_keys (key_id);

CREATE TABLE chain_links (
    tenant     TEXT    NOT NULL,
    hash       TEXT    NOT NULL,
    session_id TEXT    NOT NULL,
    seq        INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, hash, session_id)
) WITHOUT ROWID;
CREATE INDEX chain_links_newest ON chain_links (tenant, hash, created_at DESC, session_id);
CREATE INDEX chain_links_of_session ON chain_links (tenant, session_id);
