import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Child, launch, sleep, soon } from './child.ts';
import type { FakeTime } from './fake-time.ts';
import type { FaultyDisk } from './faulty-disk.ts';
import { ATTEMPT_TIMEOUT_MS, LONGEST_DELAY_MS, REALMS, RETRY_POLICY } from './plan.ts';

/** The reference hosts of a soak, each a process of its own. */
export interface Hosts {
  readonly count: number;
  /** Returns the URLs of the running hosts, stalled ones included. */
  urls(): readonly string[];
  /** Starts a host; resolves when it is ready. */
  boot(index: number): Promise<void>;
  /** Ends a host, at once or (`SIGTERM`) in order; resolves when it has exited. */
  end(index: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  /**
   * Resolves when a host that is about to exit has done so. It is killed after `patienceMs`.
   *
   * @param expected its exit; any other is a fault. Undefined: there is no wrong one
   */
  death(index: number, expected: string | undefined, patienceMs: number): Promise<void>;
  /** Performs work during which nothing else disturbs a host. The host must survive it. */
  during<T>(index: number, work: () => Promise<T>): Promise<T>;
  /** Suspends a host for `ms` milliseconds. */
  stall(index: number, ms: number): Promise<void>;
  /** Sets the clock of a host's machine by `stepMs` for `ms` milliseconds, and back. Its monotonic time goes on. */
  setClock(index: number, stepMs: number, ms: number): Promise<void>;
  /** Sets the clocks of all hosts by `stepMs`, for good. */
  advanceClocks(stepMs: number): void;
  /** Returns the hosts that are neither down nor stalled nor about to be. */
  idle(): readonly number[];
  /** The times from each start of a host until it took requests, in ms. Of failed starts only the last one counts. */
  readonly bootMs: readonly number[];
  /** One sentence for each host that exited unexpectedly. */
  readonly deaths: readonly string[];
}

/** Options of {@link hosts}. */
export interface HostsOptions {
  readonly folder: string;
  readonly names: readonly string[];
  /** The `store` of the reference host's configuration. */
  readonly store: string;
  readonly secretKey: string;
  readonly receiverPorts: readonly number[];
  /** Undefined: the clocks cannot be set. */
  readonly fakeTime: FakeTime | undefined;
  /** The disk of the hosts' database. Undefined: it is not faulty, or is that of PostgreSQL. */
  readonly disk: FaultyDisk | undefined;
}

const MAIN = fileURLToPath(new URL('../examples/reference-host/dist/main.js', import.meta.url));

/** Prepares the hosts. {@link Hosts.boot} starts each of them. */
export function hosts({ folder, names, store, secretKey, receiverPorts, fakeTime, disk }: HostsOptions): Hosts {
  const config = configOf(store, secretKey, receiverPorts);
  const running = new Map<number, { readonly child: Child; readonly url: string }>();
  const busy = new Set<number>();
  const deaths: string[] = [];
  const bootMs: number[] = [];

  return {
    count: names.length,
    urls: () => [...running.values()].map(({ url }) => url),
    async boot(index) {
      busy.add(index);
      // A host exits when the database is down while it boots; a process manager would restart it.
      const { child, url } = await soon(`the boot of host ${names[index]}`, () => bootOnce(index));
      running.set(index, { child, url });
      busy.delete(index);
      void child.ended.then((how) => {
        if (running.get(index)?.child !== child) return;
        running.delete(index);
        if (busy.has(index)) return;
        deaths.push(`host ${names[index]} exited unexpectedly (${how}); its log says why`);
      });
    },
    async end(index, signal) {
      busy.add(index);
      const { child } = running.get(index) ?? {};
      child?.kill(signal);
      if (signal === 'SIGKILL') running.delete(index);
      const how = await child?.ended;
      running.delete(index);
      if (signal === 'SIGTERM' && how !== 'exit code 0')
        deaths.push(`host ${names[index]} was stopped with SIGTERM and ended with ${how}`);
    },
    async death(index, expected, patienceMs) {
      busy.add(index);
      const { child } = running.get(index) ?? {};
      const how = await Promise.race([child?.ended, sleep(patienceMs)]);
      child?.kill('SIGKILL');
      await child?.ended;
      running.delete(index);
      if (expected === undefined || how === expected) return;
      deaths.push(`host ${names[index]} should have ended with ${expected}: ${how ?? `it lived for ${patienceMs} ms`}`);
    },
    async during(index, work) {
      busy.add(index);
      const done = await work();
      if (!running.has(index)) deaths.push(`host ${names[index]} did not survive a disturbance; its log says why`);
      busy.delete(index);
      return done;
    },
    async stall(index, ms) {
      busy.add(index);
      const { child } = running.get(index) ?? {};
      child?.kill('SIGSTOP');
      await sleep(ms);
      child?.kill('SIGCONT');
      busy.delete(index);
    },
    async setClock(index, stepMs, ms) {
      busy.add(index);
      fakeTime?.set(clockFile(index), stepMs);
      await sleep(ms);
      fakeTime?.set(clockFile(index), 0);
      // The host reads its clock once a second. A run that fell asleep meanwhile has stored when it wakes by that clock,
      // and keeps to it: taken up anew it would sleep for an hour. So it may wake before anything else happens to it.
      await sleep(1000 + LONGEST_DELAY_MS + 1000);
      busy.delete(index);
    },
    advanceClocks(stepMs) {
      for (const index of names.keys()) fakeTime?.set(clockFile(index), stepMs);
    },
    idle: () => [...running.keys()].filter((index) => !busy.has(index)),
    bootMs,
    deaths,
  };

  function clockFile(index: number): string {
    return join(folder, `host-${names[index]}.clock`);
  }

  async function bootOnce(index: number): Promise<{ child: Child; url: string }> {
    const file = join(folder, `host-${names[index]}.json`);
    writeFileSync(file, JSON.stringify(config, undefined, 2));
    fakeTime?.set(clockFile(index), 0);
    const env = together(fakeTime?.environment(clockFile(index)), disk?.environment);
    const started = performance.now();
    const child = launch([MAIN, '--config', file], join(folder, `host-${names[index]}.log`), env);
    const { url } = JSON.parse(await child.firstLine);
    bootMs.push(Math.round(performance.now() - started));
    return { child, url };
  }
}

/** Joins environments. Each may load a library into the process. */
function together(...environments: readonly (Readonly<Record<string, string>> | undefined)[]): Record<string, string> {
  const libraries = environments.flatMap((environment) => environment?.LD_PRELOAD ?? []);
  return { ...Object.assign({}, ...environments), ...(libraries.length > 0 && { LD_PRELOAD: libraries.join(':') }) };
}

function configOf(store: string, secretKey: string, receiverPorts: readonly number[]): object {
  const realms = Object.values(REALMS);
  const workspacesOf = (tenant: string) =>
    new Set(realms.filter((realm) => realm.tenant === tenant).map(({ workspace }) => workspace));
  return {
    listen: { port: 0 },
    store,
    secretKey,
    tenants: [...new Set(realms.map(({ tenant }) => tenant))].map((id) => ({ id, workspaces: [...workspacesOf(id)] })),
    apiKeys: Object.entries(REALMS).map(([name, { tenant, workspace, mode, key }]) => ({
      id: `key_${name}`,
      key,
      tenant,
      workspaces: [workspace],
      principal: `p_${name}`,
      mode,
      scopes: ['runs:create', 'runs:read', 'webhooks:manage', 'audit:read'],
    })),
    webhooks: {
      durable: false,
      retryPolicy: RETRY_POLICY,
      attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
      circuit: { failureThreshold: 4, cooldownMs: 500, failureLimit: 10_000 },
    },
    egress: { allowLoopback: receiverPorts },
    // The stored start of a run keeps its time when the clock is set: its limit is longer than the steps.
    limits: { maxRunDurationMs: 7 * 24 * 3_600_000 },
    audit: { checkpointIntervalEntries: 200, checkpointIntervalSeconds: 2 },
  };
}
