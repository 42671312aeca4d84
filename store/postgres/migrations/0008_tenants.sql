-- Whoever reads the exports of one tenant goes from one of them to the next, however many of others lie between.
CREATE INDEX exports_of_tenant ON exports (tenant, sent_number) WHERE sent_number IS NOT NULL;

-- Since this version the data of what is remembered may stand in its text, with a mark in its place. Programs that
-- know older versions only would take the mark for damage.
