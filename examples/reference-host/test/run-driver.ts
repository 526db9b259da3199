import type { AcmeHost, CallOptions } from './acme-host.ts';
import { eventually } from './booted-host.ts';

/** One major of the protocol, as these tests speak it. */
export interface Spoken {
  readonly name: string;
  readonly base: string;
  readonly major: string;
  /** Returns the id of a run as a segment of a path. */
  readonly segment: (runId: string) => string;
}

export const MAJORS: readonly [Spoken, Spoken] = [
  { name: 'major 1', base: '/v1', major: '1', segment: (runId) => runId },
  { name: 'major 2', base: '', major: '2', segment: (runId) => runId.replace('/', '~2F') },
];

export interface LoggedEvent {
  readonly type: string;
  readonly payload: Record<string, unknown>;
  readonly nodeId?: string;
  readonly sequence: number;
  readonly timestamp: string;
}

/** Returns the time from one event of a log to another, by the clock of the host, in ms. */
export function elapsed(log: readonly LoggedEvent[], from: string, to: string): number {
  const at = (wanted: string) => new Date(log.find(({ type }) => type === wanted)?.timestamp ?? Number.NaN).getTime();
  return at(to) - at(from);
}

/** Returns the operations on runs in one major. */
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
    /** Sends an operation on a run, such as `/cancel` or `:pause`. */
    act: (runId: string, what: string, body: object = {}, options: CallOptions = {}) =>
      call(driver.path(runId, what), { body, ...options }),
    /** Waits until the run has one of the statuses, and resolves with its snapshot. */
    async until(runId: string, ...statuses: readonly string[]) {
      let snapshot = await driver.read(runId);
      await eventually(async () => {
        snapshot = await driver.read(runId);
        return statuses.includes(snapshot.status);
      });
      return snapshot;
    },
    /** Reads the whole log. */
    async log(runId: string): Promise<LoggedEvent[]> {
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
