import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, KEY, startAcme } from './acme-host.ts';
import { HANG_MS } from './booted-host.ts';

const DOCUMENT = readFileSync(fileURLToPath(new URL('../../../docs/api.md', import.meta.url)), 'utf8');

/**
 * Joins the blocks of the page to one script, in which `curl` notes each status. Returns it with the statuses of the
 * page.
 */
function scriptOf(document: string): { readonly script: string; readonly expected: string[] } {
  const blocks = [...document.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
  const lines = blocks.join('\n').replace(/^(?:HOST|KEY|RECEIVER|SECRET|NEWER)=.*\n/gm, '');
  const expected = [...lines.matchAll(/^# ([0-9]{3})\b/gm)].map(([, status = '']) => status);
  return { script: `${NOTING_CURL}\n${lines}`, expected };
}

const NOTING_CURL = `set -eu
curl() {
  answer=$(command curl -m 20 -w '\\n%{http_code} %{method} %{url_effective}' "$@" </dev/null)
  printf '%s\\n' "$answer" | tail -n 1 >> "$NOTES"
  printf '%s\\n' "$answer" | sed '$d'
}`;

describe('the examples of docs/api.md', () => {
  let host: AcmeHost;
  let answered: string[];
  let output: string;
  const { script, expected } = scriptOf(DOCUMENT);

  beforeAll(async () => {
    const endpoint = await listening(willing);
    const key = {
      id: 'all',
      key: KEY,
      tenant: 'acme',
      workspaces: ['acme-prod'],
      principal: 'p_all',
      scopes: [...SCOPES, 'runs:annotate'],
    };
    host = await startAcme(
      { durable: true },
      { apiKeys: [key], portal: true, egress: { allowLoopback: [endpoint.port] } },
    );
    const folder = mkdtempSync(join(tmpdir(), 'svc-examples-'));
    const notes = join(folder, 'notes');
    output = await bash(script, {
      HOST: host.url(),
      KEY,
      RECEIVER: endpoint.url,
      SECRET: newSecret(),
      NEWER: newSecret(),
      NOTES: notes,
    });
    answered = readFileSync(notes, 'utf8').trim().split('\n');
    rmSync(folder, { recursive: true });
    endpoint.close();
  });
  afterAll(() => host.stop());

  test('get the statuses that the page says', () => {
    const statuses = answered.map((line) => line.slice(0, 3));
    expect(statuses, `${answered.join('\n')}\n${output}`).toEqual(expected);
  });

  test('show every operation that the host serves', async () => {
    const asked = answered.map((line) => line.replace(`${host.url()}`, '').slice(4));
    const shown = new Set<string>();
    const served = new Set<string>();
    for (const major of ['1', '2']) {
      for (const { method, template, operationId } of await operationsOf(major)) {
        served.add(operationId);
        if (asked.some((line) => isOf(line, method, template))) shown.add(operationId);
      }
    }
    expect([...served].filter((operationId) => !shown.has(operationId))).toEqual([]);
  });

  async function operationsOf(major: string) {
    const { body } = await host.call('/openapi.json', { major });
    const paths: Record<string, Record<string, { operationId?: string }>> = body.paths;
    return Object.entries(paths).flatMap(([template, methods]) =>
      Object.entries(methods).flatMap(([method, { operationId }]) =>
        operationId === undefined ? [] : [{ method: method.toUpperCase(), template, operationId }],
      ),
    );
  }
});

const SCOPES = [
  ...[
    'runs:create',
    'runs:read',
    'runs:cancel',
    'artifacts:read',
    'approvals:respond',
    'approvals:override',
    'manifest:read',
  ],
  ...['webhooks:manage', 'audit:read', 'workspace:read', 'workspace:write', 'byok:manage'],
];

/** Returns whether a noted request, `METHOD /path?query`, calls an operation. */
function isOf(line: string, method: string, template: string): boolean {
  const [asked = '', target = ''] = line.split(' ');
  const segments = template.split('/').map((segment) => segment.replace(/\{[^}]+\}/g, '[^/:]+').replace(/[.]/g, '\\.'));
  return asked === method && new RegExp(`^${segments.join('/')}$`).test(target.split('?', 1)[0] ?? '');
}

/** Answers the challenge of Standard Webhooks. */
const willing: RequestListener = async (request, response) => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { challenge } = JSON.parse(Buffer.concat(chunks).toString());
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ challenge }));
};

/** Returns a new secret in the form of Standard Webhooks. */
function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

async function listening(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { port, url: `http://127.0.0.1:${port}/`, close: () => server.close() };
}

function bash(script: string, variables: Readonly<Record<string, string>>): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-c', script], {
      env: { PATH: process.env.PATH, ...variables },
      timeout: HANG_MS / 2,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output = (output + chunk.toString()).slice(-20_000);
      });
    }
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve(output) : reject(new Error(`The examples ended with ${code}:\n${output}`)),
    );
  });
}
