import type { HealthReport } from '../health/health.ts';
import type { Reply } from '../http/route.ts';

/**
 * What an orchestrator asks, without a credential: `livez`, whether the process answers, which asks nothing else; and `readyz`, whether the
 * host may be sent requests. Strangers learn that and no more.
 *
 * @param prefix `/host/<org>`
 */
export function probeDocuments(
  prefix: string,
  health: () => Promise<HealthReport>,
): ReadonlyMap<string, () => Promise<Reply>> {
  return new Map([
    [`${prefix}/livez`, async () => PASSED],
    [`${prefix}/readyz`, async () => ((await health()).ready ? PASSED : FAILED)],
  ]);
}

const PASSED = probe(200, 'ok\n');
const FAILED = probe(503, 'not ok\n');

function probe(status: number, text: string): Reply {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' };
  return { status, headers, body: new TextEncoder().encode(text) };
}
