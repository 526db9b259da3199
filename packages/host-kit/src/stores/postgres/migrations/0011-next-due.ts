/**
 * The index by due times answers one question: when the next delivery is due. As an index of an expression it answers no other, whatever the
 * statistics say: with it, a claim would go through the whole backlog of one subscription to find what is due of each other.
 */
export const nextDue = `
DROP INDEX deliveries_due;
CREATE INDEX deliveries_next_due ON deliveries ((due_at + 0)) WHERE state = 'waiting';
`;
