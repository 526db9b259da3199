/**
 * An index for the next due time alone. As an index of an expression (`due_at + 0`), no other query can use it: a claim
 * that did would walk through the whole backlog of one subscription to find the due deliveries of the others.
 */
export const nextDue = `
DROP INDEX deliveries_due;
CREATE INDEX deliveries_next_due ON deliveries ((due_at + 0)) WHERE state = 'waiting';
`;
