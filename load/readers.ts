import { sleep } from '../soak/child.ts';
import { KEY } from './clients.ts';

/** The running readers of event streams. */
export interface Readers {
  /** One sentence for each broken stream, at most 50. */
  readonly findings: string[];
  /** Returns the number of events read so far. */
  readonly events: () => number;
  stop(): Promise<void>;
}

/**
 * Starts `count` readers. Each reads one run after another from its first event to its last; every tenth reads slowly.
 */
export function startReaders(url: string, count: number, recentRuns: () => readonly string[]): Readers {
  const findings: string[] = [];
  const stopping = new AbortController();
  let events = 0;

  const reading = Array.from({ length: count }, async (_, index) => {
    while (!stopping.signal.aborted) {
      const runs = recentRuns();
      const runId = runs[runs.length - 1 - (index % Math.max(runs.length, 1))];
      if (runId === undefined) await sleep(50);
      else await read(runId, index % 10 === 0).catch((error: unknown) => failed(runId, error));
      await sleep(20);
    }
  });

  return {
    findings,
    events: () => events,
    async stop() {
      stopping.abort();
      await Promise.all(reading);
    },
  };

  async function read(runId: string, isSlow: boolean): Promise<void> {
    const response = await fetch(`${url}/v1/runs/${runId}/events?streamMode=debug`, {
      headers: { authorization: `Bearer ${KEY}`, accept: 'text/event-stream' },
      signal: stopping.signal,
    });
    if (response.status !== 200 || response.body === null) {
      await response.body?.cancel();
      return found(`A stream of ${runId} returned status ${response.status}.`);
    }
    let next = 0;
    let rest = '';
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      const messages = (rest + chunk).split('\n\n');
      rest = messages.pop() ?? '';
      for (const id of messages.flatMap((message) => /^id: ([0-9]+)$/m.exec(message)?.[1] ?? [])) {
        if (Number(id) !== next) return found(`A stream of ${runId} jumped from event ${next - 1} to ${id}.`);
        next++;
        events++;
      }
      if (isSlow) await sleep(20);
    }
  }

  function failed(runId: string, error: unknown): void {
    if (!stopping.signal.aborted)
      found(`A stream of ${runId} broke: ${error instanceof Error ? error.message : error}`);
  }

  function found(finding: string): void {
    if (findings.length < 50) findings.push(finding);
  }
}
