-- Exchanges that have begun and not ended, each with the reply that is being streamed as far as it has come. There are
-- as many rows as exchanges are under way: whoever looks for those that were left reads them all.

CREATE TABLE drafts (
    tenant     TEXT    NOT NULL,
    session_id TEXT    NOT NULL,
    export_id  TEXT    NOT NULL,
    turn_id    TEXT    NOT NULL,
    reply_id   TEXT    NOT NULL,
    model      TEXT    NOT NULL,
    started_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    content    TEXT    NOT NULL,
    PRIMARY KEY (tenant, session_id)
) WITHOUT ROWID;
