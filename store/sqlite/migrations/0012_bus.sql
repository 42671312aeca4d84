-- Which bus publishes the exports, where it is not the one inside the process: one row, of no tenant.
CREATE TABLE buses (
    tenant TEXT NOT NULL PRIMARY KEY,
    name   TEXT NOT NULL
) WITHOUT ROWID;
