import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Child, launch, sleep, soon } from './child.ts';
import { ATTEMPT_TIMEOUT_MS, REALMS, RETRY_POLICY } from './plan.ts';

/** The reference hosts of a soak, each a process of its own, booted as anybody boots one. */
export interface Hosts {
  readonly count: number;
  /** Of those that are there at the moment, stalled ones included. */
  urls(): readonly string[];
  boot(index: number): Promise<void>;
  /** Ends one without a word and resolves when it is gone; `SIGTERM` asks it to end in order. */
  end(index: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  /** Lets one stand still. */
  stall(index: number, ms: number): Promise<void>;
  /** Which of them are neither down nor stalled nor about to be. */
  idle(): readonly number[];
  /** Hosts that ended without being asked to. */
  readonly deaths: readonly string[];
}

export interface HostsOptions {
  readonly folder: string;
  readonly names: readonly string[];
  /** As the configuration takes it. */
  readonly store: string;
  readonly secretKey: string;
  readonly receiverPorts: readonly number[];
}

const MAIN = fileURLToPath(new URL('../examples/reference-host/dist/main.js', import.meta.url));

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
      // The database may be away while it boots; whoever runs hosts starts them again.
      const { child, url } = await soon(`the boot of host ${names[index]}`, () => bootOnce(index));
      running.set(index, { child, url });
      busy.delete(index);
      void child.ended.then((how) => {
        if (running.get(index)?.child !== child) return;
        running.delete(index);
        if (busy.has(index)) return;
        deaths.push(`host ${names[index]} ended by itself (${how}); its log tells why`);
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
        deaths.push(`host ${names[index]} was asked to end and did so with ${how}`);
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
