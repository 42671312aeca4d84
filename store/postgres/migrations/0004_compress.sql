-- What compression keeps and where a session can go back to. The tables and columns are those of the
-- SQLite store. The rows of prompt_ends that are of the kind checkpoints are made from checkpoints and
-- say what the highest number at a turn or before it is.

CREATE TABLE checkpoints (
	tenant     text COLLATE "C" NOT NULL,
	segment    bigint NOT NULL,
	number     bigint NOT NULL,
	version    bigint NOT NULL,
	after_seq  bigint NOT NULL,
	doc        text NOT NULL,
	created_at bigint NOT NULL,
	PRIMARY KEY (tenant, segment, number, version)
);

CREATE TABLE breakers (
	tenant     text COLLATE "C" NOT NULL,
	segment    bigint NOT NULL,
	doc        text NOT NULL,
	changed_at bigint NOT NULL,
	PRIMARY KEY (tenant, segment)
) WITH (fillfactor = 75);

CREATE TABLE snapshots (
	tenant      text COLLATE "C" NOT NULL,
	snapshot_id text COLLATE "C" NOT NULL,
	segment     bigint NOT NULL,
	after_seq   bigint NOT NULL,
	doc         text NOT NULL,
	created_at  bigint NOT NULL,
	PRIMARY KEY (tenant, snapshot_id)
);

CREATE INDEX snapshots_of_segment ON snapshots (tenant, segment, snapshot_id);
