/**
 * The store deletes the deliveries and attempts of a removed subscription, in steps. A cascade would delete all of them
 * in one transaction, without an index, and the foreign key would lock the subscription for every delivery and attempt
 * that is written.
 */
export const unowned = `
ALTER TABLE deliveries DROP CONSTRAINT deliveries_webhook_id_fkey;
ALTER TABLE attempts DROP CONSTRAINT attempts_webhook_id_fkey;
`;
