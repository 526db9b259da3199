/**
 * The tenant of each delivery, and indexes by tenant, so that a claim finds the due deliveries of each tenant without
 * walking through those of the others. A delivery whose subscription was removed meanwhile has no tenant.
 */
export const turnsOfTenants = `
ALTER TABLE deliveries ADD COLUMN tenant text COLLATE "C" NOT NULL DEFAULT '';
UPDATE deliveries SET tenant = s.tenant FROM subscriptions s WHERE s.webhook_id = deliveries.webhook_id;
DROP INDEX deliveries_waiting;
CREATE INDEX deliveries_turns ON deliveries (tenant, webhook_id, due_at, position) WHERE state = 'waiting';
CREATE INDEX deliveries_due_of ON deliveries (tenant, due_at) WHERE state = 'waiting';
`;
