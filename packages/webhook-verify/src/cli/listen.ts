import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { bodyLimits } from '../adapters/body-limits.ts';
import { type NodeAnswer, readNodeBody, writeNodeAnswer } from '../adapters/node-body.ts';
import type { Delivery } from '../delivery.ts';
import type { Verifier } from '../receive.ts';
import { standardVerifier } from '../standard-webhooks/challenge.ts';
import { isStandardSecret } from '../standard-webhooks/secret.ts';
import { Webhook, type WebhookOptions } from '../webhook.ts';
import { givenSecrets, SECRET_HELP, SECRET_OPTIONS } from './secrets.ts';
import { paint, printable, type Terminal, UsageError } from './terminal.ts';

export const LISTEN_HELP: string = `Usage: svc-webhook listen

Listens for deliveries, verifies each and prints its content. Answers 200, or 400 and 401 as a receiver would.

Options:
${SECRET_HELP}
  --standard           verifies by Standard Webhooks, and answers the endpoint verification
  --port PORT          default 8788; 0 takes a free one
  --host ADDRESS       default 127.0.0.1; 0.0.0.0 lets other machines connect
  --forward URL        forwards each verified delivery unchanged, and answers with the status of that response
  --quiet              one line a delivery, without its payload

Ctrl-C stops it. Exit code: 0 stopped, 1 cannot listen, 2 wrong use.
`;

/** Runs `svc-webhook listen` until it is interrupted. @returns the exit code */
export async function listenCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...SECRET_OPTIONS,
      standard: { type: 'boolean', default: false },
      port: { type: 'string', default: '8788' },
      host: { type: 'string', default: '127.0.0.1' },
      forward: { type: 'string' },
      quiet: { type: 'boolean', default: false },
    },
  });
  if (!/^[0-9]{1,5}$/.test(values.port) || Number(values.port) > 65_535) {
    throw new UsageError('--port: must be a whole number from 0 to 65535. Pass 0 for a free port.');
  }
  const forward = values.forward === undefined ? undefined : httpUrl(values.forward);
  const verifier = verifierOf(values.standard, await givenSecrets(values, terminal), { now: terminal.now });
  const limits = bodyLimits({});

  const server = createServer((request, response) => {
    void answer(request).then(
      (answer) => writeNodeAnswer(request, response, answer),
      () => writeNodeAnswer(request, response, { status: 500 }),
    );
  });

  async function answer(request: IncomingMessage): Promise<NodeAnswer> {
    if (request.method !== 'POST') return say(405, request, `${request.method} is not POST`);
    const body = await readNodeBody(request, limits);
    if (typeof body === 'number') return say(body, request, 'the body was not read to its end');
    const verification = verifier.safeVerify(body, request.headersDistinct);
    if (!verification.ok) {
      const { status, code, message } = verification.error;
      return say(status, request, `${code}: ${message}`);
    }
    if ('challenge' in verification) {
      terminal.stdout.write(`${paint(terminal, 'green', '✓ 200')} the verification of this endpoint\n`);
      return { status: 200, body: JSON.stringify({ challenge: verification.challenge }) };
    }
    const status = forward === undefined ? 200 : await passOn(forward, request, body);
    terminal.stdout.write(`${describe(status, verification.delivery, values.quiet, terminal)}\n`);
    return { status };
  }

  function say(status: number, { url = '' }: IncomingMessage, why: string): NodeAnswer {
    terminal.stdout.write(`${paint(terminal, 'red', `✗ ${status}`)} ${printable(url)} ${printable(why)}\n`);
    return { status };
  }

  return listening(server, Number(values.port), values.host, terminal);
}

/** Listens until the command is interrupted. @returns the exit code: 0 interrupted, 1 cannot listen */
function listening(server: Server, port: number, host: string, terminal: Terminal): Promise<number> {
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      terminal.stderr.write(`svc-webhook: cannot listen on ${host}:${port} (${error.code}). Pass another --port.\n`);
      resolve(1);
    });
    server.listen(port, host, () => {
      const { address, port, family } = server.address() as AddressInfo;
      const authority = family === 'IPv6' ? `[${address}]:${port}` : `${address}:${port}`;
      terminal.stdout.write(`Listening on http://${authority}/\n`);
    });
    const end = () => {
      server.close(() => resolve(0));
      server.closeAllConnections();
    };
    if (terminal.interrupted.aborted) end();
    else terminal.interrupted.addEventListener('abort', end, { once: true });
  });
}

function verifierOf(standard: boolean, secrets: readonly string[], options: WebhookOptions): Verifier {
  if (!standard) return new Webhook(secrets, options);
  if (secrets.every(isStandardSecret)) return standardVerifier(secrets, options);
  throw new UsageError(
    '--standard: every secret must be whsec_ followed by the base64 of 24 to 64 bytes. Pass it exactly as issued.',
  );
}

function describe(status: number, delivery: Delivery, quiet: boolean, terminal: Terminal): string {
  const { eventType, runId, event, webhookId } = delivery;
  const isGood = status >= 200 && status < 300;
  const mark = isGood ? paint(terminal, 'green', `✓ ${status}`) : paint(terminal, 'yellow', `! ${status}`);
  const head = `${mark} ${paint(terminal, 'bold', printable(eventType))}`;
  const line = `${head} run ${printable(runId)} sequence ${event.sequence} webhook ${printable(webhookId)}`;
  return quiet ? line : `${line}\n${printable(JSON.stringify(event, undefined, 2))}`;
}

function httpUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new UsageError('--forward: must be an http or https URL. Pass for example http://localhost:3000/webhooks.');
  }
  return url;
}

const FORWARD_DEADLINE_MS = 10_000;
/** Headers of one connection, which are not forwarded. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'content-length',
  'expect',
]);

/** Forwards a delivery. @returns the status of the response; 502 when the request failed, 504 after the deadline */
function passOn(url: URL, { rawHeaders }: IncomingMessage, body: Uint8Array): Promise<number> {
  const headers: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2);
    if (!HOP_BY_HOP.has(name.toLowerCase())) headers.push(name, value);
  }
  headers.push('Host', url.host, 'Content-Length', String(body.length));
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve) => {
    const outgoing = send(url, { method: 'POST', headers, timeout: FORWARD_DEADLINE_MS, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 502);
    });
    outgoing.on('timeout', () => {
      resolve(504);
      outgoing.destroy();
    });
    outgoing.on('error', () => resolve(502));
    outgoing.end(body);
  });
}
