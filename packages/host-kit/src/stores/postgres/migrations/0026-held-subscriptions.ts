/** The subscriptions that a restore has paused, until they are released. */
export const heldSubscriptions = `
CREATE TABLE held_subscriptions (
  webhook_id text COLLATE "C" PRIMARY KEY,
  held_at bigint NOT NULL
);
`;
