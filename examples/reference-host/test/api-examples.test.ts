import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { KEY, startAcme } from './acme-host.ts';

const DOCUMENT = readFileSync(fileURLToPath(new URL('../../../docs/api.md', import.meta.url)), 'utf8');

/** Every block of the document as one script, in which `curl` notes the status that it got. */
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

test('every example of the document answers as it says', { timeout: 60_000 }, async () => {
  const host = await startAcme({ durable: true });
  const folder = mkdtempSync(join(tmpdir(), 'svc-examples-'));
  const notes = join(folder, 'notes');
  try {
    const { script, expected } = scriptOf(DOCUMENT);
    const [secret, newer] = [newSecret(), newSecret()];
    host.receiver.trustStandard(secret);
    const given = { RECEIVER: host.receiver.url, SECRET: secret, NEWER: newer };
    const output = await bash(script, { HOST: host.url(), KEY, NOTES: notes, ...given });
    const answered = readFileSync(notes, 'utf8').trim().split('\n');
    expect(
      answered.map((line) => line.slice(0, 3)),
      `${answered.join('\n')}\n${output}`,
    ).toEqual(expected);
  } finally {
    await host.stop();
    rmSync(folder, { recursive: true });
  }
});

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;

function bash(script: string, variables: Readonly<Record<string, string>>): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-c', script], { env: { PATH: process.env.PATH, ...variables }, timeout: 50_000 });
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
