/**
 * What belongs to a subscription is removed by the store, in steps. The database would do it in one, for which it has no index, and would lock the
 * subscription for every delivery and attempt that is written.
 */
export const unowned = `
ALTER TABLE deliveries DROP CONSTRAINT deliveries_webhook_id_fkey;
ALTER TABLE attempts DROP CONSTRAINT attempts_webhook_id_fkey;
`;
