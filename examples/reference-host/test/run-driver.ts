import type { AcmeHost, CallOptions } from './acme-host.ts';
import { eventually } from './booted-host.ts';

/** One major of the protocol, as these tests speak it. */
export interface Spoken {
  readonly name: string;
  readonly base: string;
  readonly major: string;
  /** The id of a run as it stands in a path. */
  readonly segment: (runId: string) => string;
}

export const MAJORS: readonly [Spoken, Spoken] = [
  { name: 'major 1', base: '/v1', major: '1', segment: (runId) => runId },
  { name: 'major 2', base: '', major: '2', segment: (runId) => runId.replace('/', '~2F') },
];

/** What callers do with runs, in one major. */
export function runDriver(host: () => AcmeHost, spoken: Spoken) {
  const { base, major, segment } = spoken;
  const call = (path: string, options: CallOptions = {}) => host().call(base + path, { major, ...options });
  const driver = {
    call,
    path: (runId: string, behind = '') => `/runs/${segment(runId)}${behind}`,
    async start(
      workflowId: string,
      inputs: object = {},
      fields: object = {},
      options: CallOptions = {},
    ): Promise<string> {
      const created = await call('/runs', { ...options, body: { workflowId, inputs, ...fields } });
      if (created.status !== 201) throw new Error(`not created: ${JSON.stringify(created.body)}`);
      return created.body.runId;
    },
    async read(runId: string, options: CallOptions = {}) {
      return (await call(driver.path(runId), options)).body;
    },
    /** Does something with a run: `cancel`, `:pause` … */
    act: (runId: string, what: string, body: object = {}, options: CallOptions = {}) =>
      call(driver.path(runId, what), { body, ...options }),
    /** Waits until the run has this status, and resolves with its snapshot. */
    async until(runId: string, ...statuses: readonly string[]) {
      let snapshot = await driver.read(runId);
      await eventually(async () => {
        snapshot = await driver.read(runId);
        return statuses.includes(snapshot.status);
      });
      return snapshot;
    },
    /** The whole log. */
    async log(
      runId: string,
    ): Promise<{ type: string; payload: Record<string, unknown>; nodeId?: string; sequence: number }[]> {
      const events = [];
      for (;;) {
        const cursor =
          events.length === 0 ? '' : `&${base === '' ? 'afterSequence' : 'lastSequence'}=${events.at(-1).sequence}`;
        const { body } = await call(driver.path(runId, `/events/poll?timeout=1${cursor}`));
        events.push(...body.events);
        if (body.events.length === 0 || body.isComplete === true || body.isTerminal === true) return events;
      }
    },
    async types(runId: string): Promise<string[]> {
      return (await driver.log(runId)).map(({ type }) => type);
    },
  };
  return driver;
}
