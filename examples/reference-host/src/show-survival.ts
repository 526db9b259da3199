/** The host of the demonstration. */
export interface ShownHost {
  readonly url: string;
  readonly key: string;
  /** Ends the process of the host with SIGKILL, and starts another one. */
  restart(): Promise<void>;
}

/**
 * Shows a run that survives the kill of its host in the middle of a step.
 *
 * @throws {Error} when the run does not complete in time
 */
export async function showSurvival({ url, key, restart }: ShownHost): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ workflowId: 'delay', inputs: { ms: STEP_MS } });
  const created = await fetch(`${url}/v1/runs`, { method: 'POST', headers, body });
  if (created.status !== 201) throw new Error(`The host refused a run (${created.status}): ${await created.text()}`);
  const { runId } = await created.json();
  await until('The step has begun', async () => (await eventsOf(url, headers, runId)).includes('node.started'));
  console.log(`\nThe run ${runId} is in the middle of a step. kill -9 of its host, which then starts again …`);
  await restart();
  console.log('The host is back. It takes the run over when the lease of the killed process ends, after 15 s …');
  await until('The run has completed', async () => (await eventsOf(url, headers, runId)).includes('run.completed'));
  console.log(`The run ${runId} survived: ${(await eventsOf(url, headers, runId)).join(', ')}\n`);
}

/** The types of the events of a run, in their order. */
async function eventsOf(url: string, headers: Record<string, string>, runId: string): Promise<readonly string[]> {
  const response = await fetch(`${url}/v1/runs/${runId}/events/poll?timeout=1`, { headers });
  if (!response.ok) return [];
  const { events }: { readonly events: readonly { readonly type: string }[] } = await response.json();
  return events.map(({ type }) => type);
}

async function until(wanted: string, isSo: () => Promise<boolean>): Promise<void> {
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  throw new Error(`${wanted}: did not come. See the log of the host for the reason.`);
}

/** Longer than the start of a host. */
const STEP_MS = 10_000;
const LOOK_EVERY_MS = 200;
/** Two minutes. */
const MOST_LOOKS = 600;
