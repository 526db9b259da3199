/**
 * Asks the host of the same container whether it is alive: `node livez.mjs`. Reads the port and the organisation from
 * the configuration that `SVC_HOST_CONFIG` names. The exit code is 0 when the host answers 200 within 3 s, otherwise 1.
 */
import { readFileSync } from 'node:fs';

const ANSWER_MS = 3000;
/** A host that listens on every address is asked on the loopback interface. */
const LOOPBACK = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };

try {
  const { listen = {}, org = 'example' } = JSON.parse(readFileSync(process.env.SVC_HOST_CONFIG ?? '', 'utf8'));
  const { host = '127.0.0.1', port = 8787 } = listen;
  const authority = LOOPBACK[host] ?? (host.includes(':') ? `[${host}]` : host);
  const url = `http://${authority}:${port}/host/${org}/livez`;
  const { status } = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS), redirect: 'error' });
  if (status !== 200) throw new Error(`the host answered ${status}`);
} catch (error) {
  process.stderr.write(`livez: ${error.cause?.code ?? error.message}\n`);
  process.exitCode = 1;
}
