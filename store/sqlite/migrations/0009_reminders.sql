-- When an action is to be looked at, since it may be a reminder that was sent and that nobody answered: those whose time has
-- come are found without looking at any other. Segment is that of the session which escalates it, and which may have
-- inherited it. A row may be of an action that is none any more: whoever looks drops it.
CREATE TABLE reminders (
    tenant  TEXT NOT NULL,
    segment INTEGER NOT NULL,
    id      TEXT NOT NULL,
    look_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, segment, id)
) WITHOUT ROWID;
CREATE INDEX reminders_by_time ON reminders (look_at);

-- What may have been sent before is looked at once.
INSERT INTO reminders (tenant, segment, id, look_at)
	SELECT r.tenant, r.segment, r.id, 0 FROM (
		SELECT i.tenant, i.segment, i.id, i.version FROM intentions i WHERE i.kind = 'action' AND i.live = 1 AND i.doc LIKE '%"sent"%'
		UNION SELECT i.tenant, s.heir, i.id, i.version FROM intentions i
			JOIN spans s ON s.tenant = i.tenant AND s.segment = i.segment AND i.after_seq < s.to_seq
			WHERE i.kind = 'action' AND i.live = 1 AND i.doc LIKE '%"sent"%') AS r
	WHERE NOT EXISTS (SELECT 1 FROM intentions l
		WHERE l.tenant = r.tenant AND l.segment = r.segment AND l.kind = 'action' AND l.id = r.id AND l.version > r.version)
	ON CONFLICT DO NOTHING;
