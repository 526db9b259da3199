import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@svc/tools/free-port';
import { type Child, launch, sleep, soon } from './child.ts';
import type { ReceiverMessage, Secrets, Weather } from './records.ts';

/** The receivers of a soak, each a process of its own on a port that it keeps. */
export interface Receivers {
  readonly ports: readonly number[];
  /** The file of each receiver's records. */
  readonly files: readonly string[];
  /** Returns the URL of a subscription's deliveries. */
  urlOf(receiver: number, name: string): string;
  /** Gives every receiver the secret of a subscription. */
  trust(name: string, secret: string, answer?: number): void;
  /** Sets the status of every further response to a subscription's deliveries. */
  answerWith(name: string, answer: number): void;
  isUp(index: number): boolean;
  /** Kills a receiver, and starts it again on the same port after `downMs`. */
  crash(index: number, downMs: number): Promise<void>;
  /** Changes the weather of a receiver for `ms` milliseconds. */
  weather(index: number, weather: Weather, ms: number): Promise<void>;
  /** Kills all receivers; resolves when they have exited. */
  end(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL('./receiver.ts', import.meta.url));

/** Starts `count` receivers, which keep their files in `folder`. */
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
    // A rename is atomic: a receiver that reads the file now never gets half of it.
    writeFileSync(`${secretsFile}.new`, JSON.stringify(secrets));
    renameSync(`${secretsFile}.new`, secretsFile);
  }

  function tell(index: number, message: ReceiverMessage): void {
    const { process } = children[index] ?? {};
    if (process?.connected === true) process.send(message);
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
