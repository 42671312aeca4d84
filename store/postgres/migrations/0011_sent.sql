-- When an export was sent. It is null for those that were sent before it was noted: for them counts when they were made.
ALTER TABLE exports ADD COLUMN sent_at bigint;
DROP INDEX exports_with_body;
CREATE INDEX exports_with_body ON exports (coalesce(sent_at, created_at)) WHERE sent_number IS NOT NULL AND body <> '';
