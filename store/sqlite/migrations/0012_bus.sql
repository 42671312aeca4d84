-- Which bus publishes the exports, where it is not the one inside the process: one row, of no tenant.
CREATE TABLE buses (
    tenant TEXT NOT NULL PRIMARY KEY,
    name   TEXT NOT NULL
) WITHOUT ROWID;

-- What a commit asks for: whether something of its session waits.
CREATE INDEX deferrals_of_session ON deferrals (tenant, session_id, created_at, export_id, target) WHERE escalated_at IS NULL;
