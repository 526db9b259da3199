import { randomInt } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Child, launch, sleep, soon } from './child.ts';
import type { Secrets, Told, Weather } from './records.ts';

/** The receivers of a soak, each a process of its own on a port that it keeps. */
export interface Receivers {
  readonly ports: readonly number[];
  /** What they have written down, a file each. */
  readonly files: readonly string[];
  urlOf(receiver: number, name: string): string;
  /** Lets them verify what comes for a subscription. */
  trust(name: string, secret: string, answer?: number): void;
  /** From now on this is what it answers for a subscription. */
  answerWith(name: string, answer: number): void;
  isUp(index: number): boolean;
  /** Kills one, and boots it again on its port. */
  crash(index: number, downMs: number): Promise<void>;
  /** Lets one answer differently for a while. */
  weather(index: number, weather: Weather, ms: number): Promise<void>;
  end(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL('./receiver.ts', import.meta.url));

export async function startReceivers(folder: string, count: number): Promise<Receivers> {
  const secretsFile = join(folder, 'subscriptions.json');
  let secrets: Secrets = {};
  writeFileSync(secretsFile, '{}');
  const files = Array.from({ length: count }, (_, index) => join(folder, `receiver-${index}.jsonl`));
  const ports: number[] = [];
  const children: Child[] = [];
  const down = new Set<number>();
  for (const [index, file] of files.entries()) {
    writeFileSync(file, '');
    ports[index] = await freePort();
    children[index] = await boot(index);
  }

  return {
    ports,
    files,
    urlOf: (receiver, name) => `http://127.0.0.1:${ports[receiver]}/${name}`,
    trust,
    answerWith(name, answer) {
      trust(name, secrets[name]?.secret ?? '', answer);
      for (const index of children.keys()) tell(index, { subscriptions: 'changed' });
    },
    isUp: (index) => !down.has(index),
    async crash(index, downMs) {
      down.add(index);
      children[index]?.kill('SIGKILL');
      await children[index]?.ended;
      await sleep(downMs);
      children[index] = await boot(index);
      down.delete(index);
    },
    async weather(index, weather, ms) {
      tell(index, { weather });
      await sleep(ms);
      tell(index, { weather: 'fine' });
    },
    async end() {
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(children.map(({ ended }) => ended));
    },
  };

  function trust(name: string, secret: string, answer?: number): void {
    secrets = { ...secrets, [name]: { secret, ...(answer !== undefined && { answer }) } };
    // Whole or not at all, for whoever reads it at this moment.
    writeFileSync(`${secretsFile}.new`, JSON.stringify(secrets));
    renameSync(`${secretsFile}.new`, secretsFile);
  }

  function tell(index: number, told: Told): void {
    const { process } = children[index] ?? {};
    if (process?.connected === true) process.send(told);
  }

  function boot(index: number): Promise<Child> {
    return soon(`the boot of receiver ${index}`, async () => {
      const args = [PROGRAM, String(ports[index]), secretsFile, files[index] ?? ''];
      const child = launch(args, join(folder, `receiver-${index}.log`));
      await child.firstLine;
      return child;
    });
  }
}

/**
 * One that no connection is given by chance while its receiver is down: below those that systems choose from. Not from the seed: two soaks
 * of the same one may go on at the same time.
 */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    await new Promise((resolve) => server.close(resolve));
    if (isFree) return port;
  }
}
