-- What a server needs beside the conversations: an order of events that can be read page by page, keys, and the links
-- by which a client's history finds its session.

-- Events have their places from when they are first read, one after the other for each tenant. None is ever given
-- twice, which is why the last one is kept though its event may be deleted. Its row is also what those who give places
-- lock, so that places become visible in their order.
ALTER TABLE events ADD COLUMN place bigint;
DROP INDEX events_of_session;
CREATE INDEX events_by_place ON events (tenant, place) WHERE place IS NOT NULL;
CREATE INDEX events_of_session ON events (tenant, session_id, place);
CREATE INDEX events_without_place ON events (tenant, event_id) WHERE place IS NULL;
CREATE TABLE event_places (
	tenant text COLLATE "C" PRIMARY KEY,
	last   bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE access_keys (
	tenant     text COLLATE "C" NOT NULL,
	key_id     text COLLATE "C" NOT NULL,
	name       text NOT NULL,
	scopes     text NOT NULL,
	hash       bytea NOT NULL,
	created_at bigint NOT NULL,
	revoked_at bigint,
	PRIMARY KEY (tenant, key_id)
);
-- Who shows a key does not say whose it is.
CREATE UNIQUE INDEX access_keys_by_id ON access_keys (key_id);

CREATE TABLE chain_links (
	tenant     text COLLATE "C" NOT NULL,
	hash       text COLLATE "C" NOT NULL,
	session_id text COLLATE "C" NOT NULL,
	seq        bigint NOT NULL,
	created_at bigint NOT NULL,
	PRIMARY KEY (tenant, hash, session_id)
);
CREATE INDEX chain_links_newest ON chain_links (tenant, hash, created_at DESC, session_id);
CREATE INDEX chain_links_of_session ON chain_links (tenant, session_id);
