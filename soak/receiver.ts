// A receiver of the soak as a process of its own: `receiver.ts PORT SUBSCRIPTIONS RECORDS`. It verifies each request,
// records it, and only then responds, as its weather says. It may be killed at any time without losing a record.
import { createHash } from 'node:crypto';
import { openSync, readFileSync, writeSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { argv, stdout } from 'node:process';
import { Webhook } from '@svc/webhook-verify';
import type { Answered, Arrived, ReceiverMessage, Secrets, Weather } from './records.ts';

const [port = '0', secretsFile = '', recordsFile = ''] = argv.slice(2);
const records = openSync(recordsFile, 'a');
// The previous process may have been killed in the middle of a line.
writeSync(records, '\n');
let weather: Weather = 'fine';
let secrets: Secrets = {};
let count = 0;

const server = createServer((request, response) => {
  const chunks: Uint8Array[] = [];
  request.on('data', (chunk: Uint8Array) => chunks.push(chunk));
  request.on('end', () => receive(request, Buffer.concat(chunks), response));
  request.on('error', () => {});
});
process.on('message', (message: ReceiverMessage) => {
  if ('weather' in message) weather = message.weather;
  else secrets = {};
});
process.on('disconnect', () => process.exit());
server.listen(Number(port), '127.0.0.1', () => stdout.write('ready\n'));

function receive(request: IncomingMessage, body: Uint8Array, response: ServerResponse): void {
  const name = request.url?.slice(1) ?? '';
  const { secret = '', answer: fixed } = secretOf(name);
  const receiver = new Webhook(secret === '' ? 'no subscription has this name' : secret, TOLERANT);
  const verified = receiver.safeVerify(body, request.headersDistinct);
  const answer = fixed ?? (verified.ok ? answerNow() : 401);
  const id = `${process.pid}-${count++}`;
  const digest = createHash('sha256').update(body).digest('base64url');
  const common = { id, at: Date.now(), name, digest, answer } as const;
  if (verified.ok) {
    const { webhookId, runId, eventType, event } = verified.delivery;
    const { sequence, eventId = '' } = event;
    note({ ...common, webhookId, runId, sequence, eventId, type: eventType });
  } else note({ ...common, refusal: verified.error.code });
  give(answer, response, () => note({ answered: id, at: Date.now() }));
}

/** The clocks of the hosts are set by up to a day. A real receiver would refuse their signatures meanwhile. */
const TOLERANT = { toleranceSeconds: 2 * 86_400 };

/** Writes synchronously, so that the operating system has the record even if this process is killed. */
function note(record: Arrived | Answered): void {
  writeSync(records, `${JSON.stringify(record)}\n`);
}

/** Returns the secret and the fixed response of a subscription. Reads the file again for an unknown name. */
function secretOf(name: string): Partial<Secrets[string]> {
  if (secrets[name] === undefined) secrets = JSON.parse(readFileSync(secretsFile, 'utf8'));
  return secrets[name] ?? {};
}

function answerNow(): Arrived['answer'] {
  // Even a healthy receiver fails now and then.
  if (weather === 'fine') return Math.random() < 0.02 ? 503 : 204;
  if (weather === 'mixed') return ANSWERS[Math.floor(Math.random() * ANSWERS.length)] ?? 204;
  return weather === 'failing' ? 500 : weather;
}

const ANSWERS: readonly Arrived['answer'][] = [204, 204, 200, 302, 400, 429, 500, 503, 'cut', 'hang'];

function give(answer: Arrived['answer'], response: ServerResponse, given: () => void): void {
  if (answer === 'hang') return;
  if (answer === 'cut') {
    response.socket?.destroy();
    return;
  }
  response.on('finish', given);
  if (answer === 429 || answer === 503) response.setHeader('retry-after', '1');
  if (answer === 302) response.setHeader('location', '/elsewhere');
  // One response in twenty is slow, but well within the time limit of an attempt.
  const slowness = Math.random() < 0.05 ? 200 : 0;
  setTimeout(() => response.writeHead(answer).end(), slowness);
}
