import { audit } from './initial/audit.ts';
import { callers } from './initial/callers.ts';
import { journal } from './initial/journal.ts';
import { runs } from './initial/runs.ts';
import { subscriptions } from './initial/subscriptions.ts';
import { triggers } from './initial/triggers.ts';

/** The record that a probe of the store writes. */
const probe = `
CREATE TABLE probe (id INTEGER PRIMARY KEY CHECK (id = 1), filler BLOB NOT NULL) STRICT;
INSERT INTO probe VALUES (1, zeroblob(16384));
`;

/** The schema of the first release. */
export const initial: string = [runs, subscriptions, audit, callers, triggers, journal, probe].join('');
