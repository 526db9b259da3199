import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Child, launch, sleep, soon } from './child.ts';
import { ATTEMPT_TIMEOUT_MS, REALMS, RETRY_POLICY } from './plan.ts';

/** The reference hosts of a soak, each a process of its own. */
export interface Hosts {
  readonly count: number;
  /** Returns the URLs of the running hosts, stalled ones included. */
  urls(): readonly string[];
  /** Starts a host; resolves when it is ready. */
  boot(index: number): Promise<void>;
  /** Ends a host, at once or (`SIGTERM`) in order; resolves when it has exited. */
  end(index: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  /** Suspends a host for `ms` milliseconds. */
  stall(index: number, ms: number): Promise<void>;
  /** Returns the hosts that are neither down nor stalled nor about to be. */
  idle(): readonly number[];
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
}

const MAIN = fileURLToPath(new URL('../examples/reference-host/dist/main.js', import.meta.url));

/** Prepares the hosts. {@link Hosts.boot} starts each of them. */
export function hosts({ folder, names, store, secretKey, receiverPorts }: HostsOptions): Hosts {
  const config = configOf(store, secretKey, receiverPorts);
  const running = new Map<number, { readonly child: Child; readonly url: string }>();
  const busy = new Set<number>();
  const deaths: string[] = [];

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
    async stall(index, ms) {
      busy.add(index);
      const { child } = running.get(index) ?? {};
      child?.kill('SIGSTOP');
      await sleep(ms);
      child?.kill('SIGCONT');
      busy.delete(index);
    },
    idle: () => [...running.keys()].filter((index) => !busy.has(index)),
    deaths,
  };

  async function bootOnce(index: number): Promise<{ child: Child; url: string }> {
    const file = join(folder, `host-${names[index]}.json`);
    writeFileSync(file, JSON.stringify(config, undefined, 2));
    const child = launch([MAIN, '--config', file], join(folder, `host-${names[index]}.log`));
    return { child, url: JSON.parse(await child.firstLine).url };
  }
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
    audit: { checkpointIntervalEntries: 200, checkpointIntervalSeconds: 2 },
  };
}
