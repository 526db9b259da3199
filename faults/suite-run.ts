import { PassThrough, type Readable } from 'node:stream';
import { type ConformanceOptions, type Report, runConformance, Unreachable, UsageError } from '@svc/conformance';
import { freePort } from '@svc/tools/free-port';
import { DURATIONS, KEYS } from '../examples/reference-host/test/conformance/conforming-config.ts';
import {
  type Answered,
  type Asked,
  startProxy,
  textIn,
} from '../examples/reference-host/test/conformance/faulty-proxy.ts';
import { isRecord, jsonIn, type Said } from './exchange.ts';

/** The messages between the suite and the host pass through these functions. Each function returns the message that is passed on. */
export interface Between {
  /** Changes an answer. The body of an event stream is in `open`, and not in `said`. */
  answer(asked: Asked, said: Said, open?: Readable): { readonly said: Said; readonly open?: Readable };
  /** Changes the request of a delivery. */
  delivery(asked: Asked, said: Said): Said;
  /** Called with the secret of each subscription. */
  secret(webhookId: string, secret: string): void;
}

/** Thrown when the suite does not begin, because the host is not one that it can test. */
export { Unreachable, UsageError };

/** Runs the conformance suite against a host, with a proxy on each side. */
export async function runSuite(url: string, between: Between, options: Partial<ConformanceOptions>): Promise<Report> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await runOnPort(await freePort(), url, between, options);
    } catch (error) {
      // Another process may take the port before the receiver does.
      const isTaken = error instanceof UsageError && error.message.startsWith('receiver:');
      if (!isTaken || tries === MOST_TRIES) throw error;
    }
  }
}

const MOST_TRIES = 5;

async function runOnPort(
  port: number,
  url: string,
  between: Between,
  options: Partial<ConformanceOptions>,
): Promise<Report> {
  const front = await startProxy(
    () => url,
    async (asked, pass) => {
      const answered = await pass(asked);
      const { said, open } = await saidIn(answered);
      noteSecret(asked, said, between);
      const next = between.answer(asked, said, open);
      return { status: next.said.status ?? 0, headers: sent(next.said), body: next.open ?? next.said.body };
    },
  );
  const back = await startProxy(
    () => `http://127.0.0.1:${port}`,
    (asked, pass) => {
      const next = between.delivery(asked, { status: undefined, headers: listed(asked.headers), body: asked.body });
      return pass({ ...asked, headers: sent(next), body: next.body });
    },
  );
  try {
    return await runConformance({
      url: front.url,
      keys: KEYS_WITHOUT_LIMIT,
      durations: DURATIONS,
      artifactWorkflow: 'artifact',
      // A trial ends at its first finding, so that a long wait costs little, and a busy machine is no fault.
      patienceMs: 10_000,
      receiver: { port, url: back.url },
      ...options,
    });
  } finally {
    await Promise.all([front.close(), back.close()]);
  }
}

// The checks of this key use up the rate limit of its address.
const { spare: _, ...KEYS_WITHOUT_LIMIT } = KEYS;

/** Reads an answer. The body of a stream, or of one in a coding, is passed on as it comes. */
async function saidIn(answered: Answered): Promise<{ readonly said: Said; readonly open?: Readable }> {
  const headers = listed(answered.headers);
  const { status, body } = answered;
  const isOpen =
    headers['content-type']?.[0]?.startsWith('text/event-stream') === true || headers['content-encoding'] !== undefined;
  if (isOpen && typeof body !== 'string') return { said: { status, headers, body: '' }, open: body };
  return { said: { status, headers, body: await textIn(answered) } };
}

function listed(headers: Answered['headers']): Said['headers'] {
  const all: Record<string, readonly string[]> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) all[name.toLowerCase()] = [value].flat();
  return all;
}

function sent({ headers }: Said): Record<string, string[]> {
  return Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, [...values]]));
}

function noteSecret(asked: Asked, { status, body }: Said, between: Between): void {
  if (!/^POST (\/v1)?\/webhooks(\/[^/]+\/rotate-secret.*)?$/.test(`${asked.method} ${asked.target}`)) return;
  if (status !== 201 && status !== 200) return;
  const [given, answer] = [jsonIn(asked.body), jsonIn(body)];
  if (!isRecord(answer)) return;
  const secret = answer.secret ?? (isRecord(given) ? given.secret : undefined);
  if (typeof answer.webhookId === 'string' && typeof secret === 'string') between.secret(answer.webhookId, secret);
}

/** Copies a stream while it is read. `whole` is called at its end with all of its text. */
export function copied(open: Readable, whole: (text: string) => void): Readable {
  const chunks: string[] = [];
  const copy = new PassThrough();
  open.on('data', (chunk) => chunks.push(String(chunk)));
  const end = () => whole(chunks.join(''));
  open.once('end', end).once('error', () => copy.destroy());
  copy.once('close', () => open.destroy());
  return open.pipe(copy);
}
