import { afterEach, describe, expect, test, vi } from 'vitest';
import { authenticator } from './authenticate.ts';
import { AuthError } from './errors.ts';
import { failureLog } from './failure-log.ts';
import { type GuardOptions, guard } from './guard.ts';
import { outage } from './outage.ts';

afterEach(() => vi.restoreAllMocks());

function logged() {
  let now = 0;
  const lines: string[] = [];
  const log = failureLog({ monotonic: () => now, write: (line) => lines.push(line) });
  return { log, records: () => lines.map((line) => JSON.parse(line)), after: (ms: number) => (now += ms) };
}

const unavailable = (cause: unknown) => outage('Try again in 5 s.', cause);

describe('a guard without onError', () => {
  async function guarded(options: Partial<GuardOptions>, message: string) {
    const write = vi.spyOn(console, 'error').mockImplementation(() => {});
    const authenticate = () => {
      throw new Error(message);
    };
    const judge = guard({ authenticator: authenticator({ lanes: [{ name: 'own', authenticate }] }), ...options });
    const verdict = await judge({ headers: {} });
    return { verdict, lines: write.mock.calls.map(([line]) => String(line)) };
  }

  test('writes what its own lane threw to standard error, and the caller sees nothing of it', async () => {
    const { verdict, lines } = await guarded({}, 'the directory is not there');
    expect(verdict).toMatchObject({ admitted: false, refusal: { status: 503 } });
    expect(JSON.stringify(verdict)).not.toContain('directory');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        ...{ level: 'error', event: 'authentication.failed', code: 'service_unavailable', reason: 'internal' },
        ...{ error: 'the directory is not there', stack: expect.stringContaining('failure-log.test.ts') },
      },
    ]);
  });

  test('and one with it writes nothing', async () => {
    const onError = vi.fn();
    expect((await guarded({ onError }, 'the directory is gone')).lines).toEqual([]);
    expect(onError).toHaveBeenCalledOnce();
  });
});

describe('the log of guards', () => {
  test('has no refusal of a caller', () => {
    const { log, records } = logged();
    log(new AuthError('unauthenticated', 'Send a credential.', undefined));
    log(new AuthError('forbidden', 'Ask for the scope.', { scopeRequired: 'runs:read' }));
    expect(records()).toEqual([]);
  });

  test('has the same failure once in 10 s', () => {
    const { log, records, after } = logged();
    for (let count = 0; count < 3; count++) log(unavailable(new Error('down')));
    after(9_999);
    log(unavailable(new Error('down')));
    expect(records()).toHaveLength(1);
    after(1);
    log(unavailable(new Error('down')));
    expect(records()).toHaveLength(2);
  });

  test('is bounded in lines and in their length', () => {
    const { log, records } = logged();
    for (let count = 0; count < 100; count++) log(unavailable(new Error(`down ${count} ${'x'.repeat(100_000)}`)));
    expect(records()).toHaveLength(20);
    for (const record of records()) expect(JSON.stringify(record).length).toBeLessThan(6000);
  });

  test('has the type alone of a value that is no error', () => {
    const { log, records } = logged();
    log(unavailable('sk_live_secret'));
    expect(JSON.stringify(records())).not.toContain('sk_live');
    expect(records()).toMatchObject([{ error: 'thrown: a value of type string, which is no Error.' }]);
  });
});
