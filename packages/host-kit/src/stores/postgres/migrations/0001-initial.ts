import { audit } from './initial/audit.ts';
import { callers } from './initial/callers.ts';
import { runs } from './initial/runs.ts';
import { subscriptions } from './initial/subscriptions.ts';
import { triggers } from './initial/triggers.ts';

/** The record that a probe of the store writes. */
const probe = `
CREATE TABLE probe (id integer PRIMARY KEY CHECK (id = 1), count bigint NOT NULL);
INSERT INTO probe VALUES (1, 0);
`;

/**
 * Cleans up the tables of which rows come and go, or change, with each delivery and each run, after a hundredth of their rows in place
 * of a fifth, and without pauses: each claim reads past the rows that are left.
 */
const cleanUp = ['deliveries', 'attempts', 'subscriptions', 'runs']
  .map((table) => `ALTER TABLE ${table} SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);`)
  .join('\n');

/** The schema of the first release. */
export const initial: string = [runs, subscriptions, audit, callers, triggers, probe, cleanUp].join('');
