-- Exchanges that have begun and not ended, each with the reply that is being streamed as far as it has come. There are
-- as many rows as exchanges are under way: whoever looks for those that were left reads them all.

CREATE TABLE drafts (
	tenant     text COLLATE "C" NOT NULL,
	session_id text COLLATE "C" NOT NULL,
	export_id  text NOT NULL,
	turn_id    text NOT NULL,
	reply_id   text NOT NULL,
	content    text NOT NULL,
	model      text NOT NULL,
	started_at bigint NOT NULL,
	changed_at bigint NOT NULL,
	PRIMARY KEY (tenant, session_id)
) WITH (fillfactor = 50);
