-- Whoever reads the exports of one tenant goes from one of them to the next, however many of others lie between.
-- The index has their numbers, which are the rows' own.
CREATE INDEX exports_of_tenant ON exports (tenant);

-- Since this version the data of what is remembered may stand in its text, with a mark in its place. Programs that
-- know older versions only would take the mark for damage.
