/** The outage of a subscription, and the numbers of the operational events about it. */
export const outages = `
ALTER TABLE subscriptions ADD COLUMN outage TEXT;
ALTER TABLE subscriptions ADD COLUMN event_run_id TEXT;
ALTER TABLE subscriptions ADD COLUMN event_sequence INTEGER;
`;
