import type { LaneClass } from '@svc/auth';
import type { Major } from '@svc/versioning';
import { counterOf } from './instruments.ts';
import { METRICS } from './metrics.ts';
import type { Scope } from './scope.ts';

/** Counts the requests of known callers under each major. */
export function versionCounter({ meter }: Scope): (major: Major, lane: string) => void {
  const requests = counterOf(meter, METRICS.versionRequests);
  return (major, lane) => requests.add(1, { 'svc.major': major, 'svc.auth.lane': LANES.get(lane) ?? 'other' });
}

/** The classes of the lanes of principals. The name of a lane of your own may be any text. */
const LANES: ReadonlyMap<string, LaneClass> = new Map([
  ['api-key', 'api-key'],
  ['oidc', 'bearer-token'],
  ['oauth2', 'bearer-token'],
  ['workload', 'workload'],
]);
