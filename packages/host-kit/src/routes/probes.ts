import type { HealthReport } from '../health/health.ts';
import type { Reply } from '../http/route.ts';

/**
 * Makes the probes for an orchestrator, which need no credential. `livez` passes until only a restart can help;
 * `readyz` passes when the host accepts requests. Neither tells the reason of a failure, because strangers can read it.
 *
 * @param prefix `/host/<org>`
 * @param isLost whether the store can write nothing more until the process is started again
 */
export function probeDocuments(
  prefix: string,
  health: () => Promise<HealthReport>,
  isLost: () => boolean,
): ReadonlyMap<string, () => Promise<Reply>> {
  return new Map([
    [`${prefix}/livez`, async () => (isLost() ? FAILED : PASSED)],
    [`${prefix}/readyz`, async () => ((await health()).ready ? PASSED : FAILED)],
  ]);
}

const PASSED = probe(200, 'ok\n');
const FAILED = probe(503, 'not ok\n');

function probe(status: number, text: string): Reply {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' };
  return { status, headers, body: new TextEncoder().encode(text) };
}
