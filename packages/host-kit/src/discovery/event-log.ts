import type { Facets } from './families.ts';

/** How the log of a run is read, in both majors. */
export const EVENT_LOG: NonNullable<Facets['eventLog']> = { transports: ['poll', 'sse'] };
