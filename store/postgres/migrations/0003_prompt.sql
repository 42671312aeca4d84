-- What prompts are compiled from and what was learned about models. The tables and columns are those of
-- the SQLite store; prompt_ends is made from epochs and prompts.

CREATE TABLE epochs (
	tenant     text COLLATE "C" NOT NULL,
	segment    bigint NOT NULL,
	number     bigint NOT NULL,
	after_seq  bigint NOT NULL,
	doc        text NOT NULL,
	created_at bigint NOT NULL,
	PRIMARY KEY (tenant, segment, number)
);

CREATE TABLE prompts (
	tenant     text COLLATE "C" NOT NULL,
	segment    bigint NOT NULL,
	number     bigint NOT NULL,
	end_seq    bigint NOT NULL,
	epoch      bigint NOT NULL,
	doc        text NOT NULL,
	sha256     text COLLATE "C" NOT NULL,
	created_at bigint NOT NULL,
	PRIMARY KEY (tenant, segment, number)
);

-- The epochs and prompts that no later one of their segment stands at or before: the last one at a turn
-- or before it is found in one step. Kind is the table, end_seq its after_seq or end_seq. Mostly each
-- row stands later than those before it, and then all are here.
CREATE TABLE prompt_ends (
	tenant  text COLLATE "C" NOT NULL,
	segment bigint NOT NULL,
	kind    text COLLATE "C" NOT NULL,
	end_seq bigint NOT NULL,
	number  bigint NOT NULL,
	PRIMARY KEY (tenant, segment, kind, end_seq)
);

CREATE TABLE pins (
	tenant     text COLLATE "C" NOT NULL,
	segment    bigint NOT NULL,
	number     bigint NOT NULL,
	after_seq  bigint NOT NULL,
	seq        bigint NOT NULL,
	pinned     bigint NOT NULL,
	created_at bigint NOT NULL,
	PRIMARY KEY (tenant, segment, number)
);

CREATE TABLE materials (
	tenant     text COLLATE "C" NOT NULL,
	sha256     text COLLATE "C" NOT NULL,
	text       text NOT NULL,
	created_at bigint NOT NULL,
	PRIMARY KEY (tenant, sha256)
);

CREATE TABLE calibrations (
	tenant     text COLLATE "C" NOT NULL,
	model      text COLLATE "C" NOT NULL,
	doc        text NOT NULL,
	changed_at bigint NOT NULL,
	PRIMARY KEY (tenant, model)
) WITH (fillfactor = 75);
