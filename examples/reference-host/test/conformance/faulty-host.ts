import { createHmac } from 'node:crypto';
import { type Report, runConformance, Unreachable, UsageError } from '@svc/conformance';
import { freePort } from '@svc/tools/free-port';
import { DURATIONS, KEYS } from './conforming-config.ts';
import type { Fault } from './fault.ts';
import { type Asked, type Meddler, startProxy, textIn } from './faulty-proxy.ts';
import { REGISTER } from './meddlers.ts';

/** Runs the checks that a fault breaks against a host with that fault. */
export async function judge(url: string, fault: Fault): Promise<Report> {
  for (let tries = 1; ; tries++) {
    try {
      return await judgeOn(await freePort(), url, fault);
    } catch (error) {
      // Another process may take the port before the receiver does. A machine with other work may stall for ten seconds,
      // so that no check begins.
      const isPassing = error instanceof UsageError || error instanceof Unreachable;
      if (!isPassing || tries === 5) throw error;
    }
  }
}

async function judgeOn(
  port: number,
  url: string,
  { breaks, with: others = [], majors, host = honest, receiver = honest, options }: Fault,
): Promise<Report> {
  const secrets = new Map<string, string>();
  const front = await startProxy(() => url, noting(secrets, host));
  const back = await startProxy(
    () => `http://127.0.0.1:${port}`,
    receiver,
    (asked) => signed(asked, secrets),
  );
  try {
    return await runConformance({
      url: front.url,
      keys: KEYS,
      only: [...breaks, ...others],
      durations: DURATIONS,
      artifactWorkflow: 'artifact',
      // Longer waits do not find more faults.
      patienceMs: 3000,
      receiver: { port, url: back.url },
      ...(majors !== undefined && { majors }),
      ...options,
    });
  } finally {
    await Promise.all([front.close(), back.close()]);
  }
}

const honest: Meddler = (asked, pass) => pass(asked);

/** Records the secret of every registration, so that a changed delivery can be signed again. */
function noting(secrets: Map<string, string>, meddle: Meddler): Meddler {
  return (asked, pass, sign) =>
    meddle(
      asked,
      async (next) => {
        const answered = await pass(next);
        if (!REGISTER.test(`${next.method} ${next.target}`) || answered.status !== 201) return answered;
        const body = await textIn(answered);
        const { webhookId, secret = JSON.parse(next.body).secret } = JSON.parse(body);
        secrets.set(webhookId, secret);
        return { ...answered, body };
      },
      sign,
    );
}

function signed(asked: Asked, secrets: ReadonlyMap<string, string>): Asked {
  const read = (name: string) => [asked.headers[name] ?? ''].flat().join();
  const secret = secrets.get(read('svc-webhook-id'));
  if (secret === undefined) return asked;
  const signature = createHmac('sha256', secret)
    .update(`${read('svc-timestamp')}.${asked.body}`)
    .digest('hex');
  const value = `sha256=${signature}`;
  return { ...asked, headers: { ...asked.headers, 'svc-signature': value, 'x-svc-signature': value } };
}
