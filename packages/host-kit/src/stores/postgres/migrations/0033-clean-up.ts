/**
 * Cleans up the tables of which rows come and go, or change, with each delivery and each run, after a hundredth of their
 * rows in place of a fifth, and without pauses: each claim reads past the rows that are left. The lock is one that reads
 * and writes do not wait for.
 */
export const cleanUp = ['deliveries', 'attempts', 'subscriptions', 'runs']
  .map((table) => `ALTER TABLE ${table} SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);`)
  .join('\n');
