import type { Fault } from '../fault.ts';
import { json, make, mistaking, query, sendingHeader, set, status } from '../meddlers.ts';

const ALL_POLL = /^GET (\/v1)?\/host\/example\/events\/poll/;
const ALL_STREAM = /^GET (\/v1)?\/host\/example\/events$/;
const BUNDLE = /^GET (\/v1)?\/host\/example\/runs\/[^/]+\/debug-bundle$/;

/** Faults of the stream of all runs. */
export const allRunsFaults: readonly Fault[] = [
  {
    fault: 'returns events of all runs twice',
    breaks: ['all-runs.polled'],
    host: json(
      ALL_POLL,
      make('events', (events) => (Array.isArray(events) ? [...events, ...events] : events)),
    ),
  },
  {
    fault: 'begins the stream of all runs anew at each connection',
    breaks: ['all-runs.streamed'],
    host: sendingHeader(ALL_STREAM, 'last-event-id', undefined),
  },
  {
    fault: 'ignores the types of a poll of all runs',
    breaks: ['all-runs.filtered'],
    host: query(ALL_POLL, 'types'),
  },
  {
    fault: 'sends the events of all runs to other tenants',
    breaks: ['all-runs.kept-apart'],
    host: mistaking('otherTenant', 'main', ALL_POLL),
  },
  {
    fault: 'accepts every cursor of a poll of all runs',
    breaks: ['all-runs.cursor-400'],
    host: status(ALL_POLL, 400, 200),
  },
];

/** Faults of debug bundles. */
export const debugBundleFaults: readonly Fault[] = [
  {
    fault: 'changes a debug bundle after it was signed',
    breaks: ['debug-bundle.signed'],
    host: json(BUNDLE, set('redactions', 99)),
  },
  {
    fault: 'answers 403 for the debug bundle of an unknown run',
    breaks: ['debug-bundle.unknown-404'],
    host: status(BUNDLE, 404, 403, 'forbidden'),
  },
];
