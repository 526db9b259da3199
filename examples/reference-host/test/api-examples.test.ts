import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { asDescribed } from '@svc/tools/as-described';
import { freePort } from '@svc/tools/free-port';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { developmentConfig } from '../src/development-config.ts';
import { HANG_MS, type RunningHost, scratch } from './booted-host.ts';
import { bearer } from './callers.ts';
import { bootInProcess } from './host-in-process.ts';

const DOCUMENT = readFileSync(fileURLToPath(new URL('../../../docs/api.md', import.meta.url)), 'utf8');

/**
 * Joins the blocks of the page to one script, in which `curl` notes each status. Returns it with the statuses of the
 * page.
 */
function scriptOf(document: string): { readonly script: string; readonly expected: string[] } {
  const blocks = [...document.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
  const lines = blocks
    .join('\n')
    .replace(/^(?:HOST|KEY|RECEIVER)=.*\n/gm, '')
    .replaceAll('8789', '$RECEIVER_PORT');
  const expected = [...lines.matchAll(/^# ([0-9]{3})\b/gm)].map(([, status = '']) => status);
  return { script: `${NOTING_CURL}\n${lines}`, expected };
}

const NOTING_CURL = `set -eu
curl() {
  answer=$(command curl -m 20 -w '\\n%{http_code} %{method} %{url_effective}' "$@" </dev/null)
  printf '%s\\n' "$answer" | tail -n 1 >> "$NOTES"
  printf '%s\\n' "$answer" | sed '$d'
}
# The page calls a command of a package, with the Node and the build of this test.
npm() {
  exec "$NODE" "$SVC_WEBHOOK" "\${@:6}"
}
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT`;

const KEY = 'development-key-of-this-machine-only';
const SVC_WEBHOOK = fileURLToPath(
  new URL('../../../packages/webhook-verify/dist/for-node/cli/main.js', import.meta.url),
);

const send = asDescribed(fetch);

describe('the examples of docs/api.md, on the host of npm start', () => {
  const folder = scratch();
  let host: RunningHost;
  let answered: string[];
  let output: string;
  const { script, expected } = scriptOf(DOCUMENT);

  beforeAll(async () => {
    const receiverPort = await freePort();
    const store = { store: `sqlite:${folder.path('svc.db')}` };
    host = await bootInProcess(
      folder.path('config.json'),
      developmentConfig({ key: KEY, hostPort: 0, receiverPorts: [receiverPort], store }),
    );
    output = await bash(script, {
      HOST: host.url,
      KEY,
      RECEIVER: `http://127.0.0.1:${receiverPort}/`,
      RECEIVER_PORT: String(receiverPort),
      NODE: process.execPath,
      SVC_WEBHOOK,
      NOTES: folder.path('notes'),
    });
    answered = readFileSync(folder.path('notes'), 'utf8').trim().split('\n');
  });
  afterAll(async () => {
    await host?.end();
    folder.remove();
  });

  test('get the statuses that the page says', () => {
    const statuses = answered.map((line) => line.slice(0, 3));
    expect(statuses, `${answered.join('\n')}\n${output}`).toEqual(expected);
  });

  test('show every operation that the host serves', async () => {
    const asked = answered.map((line) => line.replace(host.url, '').slice(4));
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
    const response = await send(`${host.url}/openapi.json`, { headers: { ...bearer(KEY), 'svc-version': major } });
    const { paths }: { paths: Record<string, Record<string, { operationId?: string }>> } = await response.json();
    return Object.entries(paths).flatMap(([template, methods]) =>
      Object.entries(methods).flatMap(([method, { operationId }]) =>
        operationId === undefined ? [] : [{ method: method.toUpperCase(), template, operationId }],
      ),
    );
  }
});

/** Returns whether a noted request, `METHOD /path?query`, calls an operation. */
function isOf(line: string, method: string, template: string): boolean {
  const [asked = '', target = ''] = line.split(' ');
  const segments = template.split('/').map((segment) => segment.replace(/\{[^}]+\}/g, '[^/:]+').replace(/[.]/g, '\\.'));
  return asked === method && new RegExp(`^${segments.join('/')}$`).test(target.split('?', 1)[0] ?? '');
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
