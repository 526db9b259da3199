/** Deliveries are found by their ids, and attempts have phases. */
export const deliveriesById = `
CREATE INDEX deliveries_ids ON deliveries (delivery_id);
DROP INDEX deliveries_dead_ids;
ALTER TABLE attempts ADD COLUMN phases TEXT;
`;
