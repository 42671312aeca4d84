-- What a turn commit writes: intentions, observations, memory, the outbox and traces. The tables and
-- columns are those of the SQLite store; intention_heads, memory_counts, memory_index,
-- memory_unindexed and outbox_claims are made from them.

CREATE TABLE intentions (
	tenant     text COLLATE "C" NOT NULL,
	segment    bigint NOT NULL,
	kind       text COLLATE "C" NOT NULL,
	id         text COLLATE "C" NOT NULL,
	version    bigint NOT NULL,
	after_seq  bigint NOT NULL,
	live       bigint NOT NULL,
	doc        text NOT NULL,
	change     text NOT NULL,
	created_at bigint NOT NULL,
	PRIMARY KEY (tenant, segment, kind, id, version)
);

-- One row for each intention of a segment. Until_seq is the highest bigint while its highest version is
-- live, and otherwise where that version was written: after that turn it is not live for certain. So
-- it is written when an intention begins and when it ends, and not for the versions in between.
CREATE TABLE intention_heads (
	tenant    text COLLATE "C" NOT NULL,
	segment   bigint NOT NULL,
	kind      text COLLATE "C" NOT NULL,
	id        text COLLATE "C" NOT NULL,
	until_seq bigint NOT NULL,
	PRIMARY KEY (tenant, segment, kind, id)
);
CREATE INDEX intention_heads_live ON intention_heads (tenant, segment, until_seq);

CREATE TABLE observations (
	tenant         text COLLATE "C" NOT NULL,
	segment        bigint NOT NULL,
	observation_id text COLLATE "C" NOT NULL,
	type           text NOT NULL,
	status         text COLLATE "C" NOT NULL,
	doc            text NOT NULL,
	changed_at     bigint NOT NULL,
	expires_at     bigint NOT NULL,
	PRIMARY KEY (tenant, segment, observation_id)
);
CREATE INDEX observations_live ON observations (tenant, segment, observation_id) WHERE status <> 'archived';
CREATE INDEX observations_by_expiry ON observations (expires_at);

CREATE TABLE memory_items (
	tenant      text COLLATE "C" NOT NULL,
	item_id     text COLLATE "C" NOT NULL,
	segment     bigint NOT NULL,
	session_id  text COLLATE "C" NOT NULL,
	user_id     text COLLATE "C" NOT NULL,
	type        text COLLATE "C" NOT NULL,
	importance  bigint NOT NULL,
	created_at  bigint NOT NULL,
	expires_at  bigint,
	archived_at bigint,
	text        text NOT NULL,
	data        text,
	about       text NOT NULL,
	PRIMARY KEY (tenant, item_id)
);
-- Every commit reads the newest of its session and of its user.
CREATE INDEX memory_items_of_segment ON memory_items (tenant, segment, item_id);
CREATE INDEX memory_items_of_user ON memory_items (tenant, user_id, item_id);
CREATE INDEX memory_items_live ON memory_items (tenant, segment, importance, item_id) WHERE archived_at IS NULL;
CREATE INDEX memory_items_by_expiry ON memory_items (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX memory_items_expired ON memory_items (tenant, segment, expires_at)
	WHERE archived_at IS NULL AND expires_at IS NOT NULL;

-- How many items of a session are not archived, expired or not. Every commit asks, and to count them
-- would cost more than all it writes.
CREATE TABLE memory_counts (
	tenant  text COLLATE "C" NOT NULL,
	segment bigint NOT NULL,
	items   bigint NOT NULL,
	PRIMARY KEY (tenant, segment)
) WITH (fillfactor = 75);

-- The items that are not in memory_index yet. A queue and no mark: transactions become visible in
-- any order, so that an item may appear behind one with a higher id that is indexed already.
CREATE TABLE memory_unindexed (
	tenant  text COLLATE "C" NOT NULL,
	item_id text COLLATE "C" NOT NULL,
	PRIMARY KEY (tenant, item_id)
);

-- What items are looked up by, but for the newest. It is filled in the background, since a full-text
-- index that is kept inside a commit costs more than the rest of it. Archived_at is not here: it changes,
-- and every change would be one of all terms.
CREATE TABLE memory_index (
	tenant     text COLLATE "C" NOT NULL,
	item_id    text COLLATE "C" NOT NULL,
	segment    bigint NOT NULL,
	user_id    text COLLATE "C" NOT NULL,
	type       text COLLATE "C" NOT NULL,
	importance bigint NOT NULL,
	created_at bigint NOT NULL,
	expires_at bigint,
	tokens     text[] COLLATE "C" NOT NULL,
	PRIMARY KEY (tenant, item_id)
);
CREATE INDEX memory_index_by_importance ON memory_index (tenant, importance, item_id);
CREATE INDEX memory_index_of_user_by_importance ON memory_index (tenant, user_id, importance, item_id);
CREATE INDEX memory_index_tokens ON memory_index USING gin (tokens) WITH (gin_pending_list_limit = 512);

CREATE TABLE digests (
	tenant      text COLLATE "C" NOT NULL,
	segment     bigint NOT NULL,
	through_seq bigint NOT NULL,
	doc         text NOT NULL,
	changed_at  bigint NOT NULL,
	PRIMARY KEY (tenant, segment)
);

CREATE TABLE exports (
	tenant      text COLLATE "C" NOT NULL,
	export_id   text COLLATE "C" NOT NULL,
	session_id  text COLLATE "C" NOT NULL,
	segment     bigint NOT NULL,
	turn_id     text COLLATE "C" NOT NULL,
	first_seq   bigint NOT NULL,
	last_seq    bigint NOT NULL,
	status      text NOT NULL,
	body        text NOT NULL,
	created_at  bigint NOT NULL,
	sent_number bigint,
	PRIMARY KEY (tenant, export_id)
);
CREATE INDEX exports_of_turn ON exports (tenant, turn_id, export_id);
CREATE INDEX exports_unsent ON exports (tenant, segment, last_seq, export_id) WHERE sent_number IS NULL;
CREATE UNIQUE INDEX exports_by_number ON exports (sent_number) WHERE sent_number IS NOT NULL;
CREATE INDEX exports_with_body ON exports (created_at) WHERE sent_number IS NOT NULL AND body <> '';

-- What a relay locks while it publishes the exports of a session: a row of its own, since an append locks
-- that of the session. Rows are never deleted, so that a commit need not know of them and none is
-- missed between its look and their end.
CREATE TABLE outbox_claims (
	tenant  text COLLATE "C" NOT NULL,
	segment bigint NOT NULL,
	PRIMARY KEY (tenant, segment)
);

CREATE TABLE deferrals (
	tenant       text COLLATE "C" NOT NULL,
	export_id    text COLLATE "C" NOT NULL,
	target       text COLLATE "C" NOT NULL,
	session_id   text NOT NULL,
	payload      text NOT NULL,
	tries        bigint NOT NULL,
	next_at      bigint NOT NULL,
	error        text NOT NULL,
	created_at   bigint NOT NULL,
	escalated_at bigint,
	PRIMARY KEY (tenant, export_id, target)
);
CREATE INDEX deferrals_due ON deferrals (next_at, tenant, export_id, target) WHERE escalated_at IS NULL;
CREATE INDEX deferrals_given_up ON deferrals (escalated_at) WHERE escalated_at IS NOT NULL;

CREATE TABLE events (
	tenant     text COLLATE "C" NOT NULL,
	event_id   text COLLATE "C" NOT NULL,
	session_id text COLLATE "C" NOT NULL,
	kind       text NOT NULL,
	turn_id    text,
	data       text NOT NULL,
	created_at bigint NOT NULL,
	PRIMARY KEY (tenant, event_id)
);
CREATE INDEX events_of_session ON events (tenant, session_id, event_id);

CREATE TABLE daemons (
	tenant  text COLLATE "C" NOT NULL,
	name    text COLLATE "C" NOT NULL,
	through bigint NOT NULL,
	holder  text,
	until   bigint,
	PRIMARY KEY (tenant, name)
) WITH (fillfactor = 75);

CREATE TABLE dead_letters (
	tenant     text COLLATE "C" NOT NULL,
	daemon     text COLLATE "C" NOT NULL,
	export_id  text COLLATE "C" NOT NULL,
	session_id text NOT NULL,
	turn_id    text NOT NULL,
	tries      bigint NOT NULL,
	error      text NOT NULL,
	created_at bigint NOT NULL,
	PRIMARY KEY (tenant, daemon, export_id)
);
CREATE INDEX dead_letters_by_time ON dead_letters (tenant, created_at);

CREATE TABLE trace_parts (
	tenant     text COLLATE "C" NOT NULL,
	turn_id    text COLLATE "C" NOT NULL,
	part_id    text COLLATE "C" NOT NULL,
	segment    bigint NOT NULL,
	created_at bigint NOT NULL,
	body       text NOT NULL,
	PRIMARY KEY (tenant, turn_id, part_id)
);
CREATE INDEX trace_parts_of_segment ON trace_parts (tenant, segment, turn_id, part_id);
CREATE INDEX trace_parts_by_time ON trace_parts (created_at);
