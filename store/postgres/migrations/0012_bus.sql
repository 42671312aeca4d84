-- Which bus publishes the exports, where it is not the one inside the process: one row, of no tenant.
CREATE TABLE buses (
	tenant text COLLATE "C" PRIMARY KEY,
	name   text NOT NULL
);
