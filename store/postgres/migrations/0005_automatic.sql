-- Snapshots that the engine takes by itself are swept once there are newer ones; those of the user are not. What
-- was taken before this was known counts as the user's.

ALTER TABLE snapshots ADD COLUMN auto bigint;

CREATE INDEX automatic_snapshots ON snapshots (tenant, segment, snapshot_id) WHERE auto = 1;
