import { egressPolicy } from '@svc/egress-guard';
import { guardedAgents } from '@svc/egress-guard/agents';
import { guardedDispatcher } from '@svc/egress-guard/dispatcher';
import { guardedFetch } from '@svc/egress-guard/fetch';
import { guardedPost } from '@svc/egress-guard/post';
import { guardedStream } from '@svc/egress-guard/stream';
import { describe, expect, test } from 'vitest';

/** A mistyped option, as JavaScript lets it pass. */
const typo = (name: string): object => ({ [name]: 1 });

test.each([
  ['egressPolicy', () => egressPolicy(typo('denyCidr')), 'denyCidrs'],
  ['guardedFetch', () => guardedFetch(typo('timeout')), 'timeoutMs'],
  ['guardedPost', () => guardedPost(typo('maxResponseByte')), 'maxResponseBytes'],
  ['guardedDispatcher', () => guardedDispatcher(typo('polcy')), 'policy'],
  ['guardedAgents', () => guardedAgents(typo('maxIdleMs')), undefined],
  ['guardedStream', () => guardedStream(typo('idelMs')), 'idleMs'],
])('%s rejects an unknown option', (owner, make, meant) => {
  expect(make).toThrow(TypeError);
  const advice = meant === undefined ? 'Its options are policy,' : `Did you mean ${meant}\\?`;
  expect(make).toThrow(new RegExp(`^${owner}: unknown option \\w+\\. ${advice}`));
});

test('a guarded POST rejects an unknown field', async () => {
  const post = guardedPost();
  const request = { url: 'https://127.0.0.1/', headers: {}, body: '', timeoutMs: 1000, onec: true };
  await expect(post(request)).rejects.toThrow('guardedPost: unknown option onec. Did you mean once?');
});

test.each([['/etc/ssl/ca.pem'], [''], ['-----BEGIN PRIVATE KEY-----'], [Buffer.from('-----BEGIN CERTIFICATE-----')]])(
  'a policy rejects %o as an authority',
  (text) => {
    const make = () => Reflect.apply(egressPolicy, undefined, [{ ca: ['-----BEGIN CERTIFICATE-----', text] }]);
    expect(make).toThrow(
      new TypeError('ca: entry 1 is no certificate in PEM. Pass the text of the file, not its path.'),
    );
  },
);

test.each(['denyCidrs', 'allowCidrs', 'denyNames', 'allowPorts', 'ca', 'allowLoopback'])(
  'a policy rejects a text in place of a list in %s',
  (name) => {
    const make = () => Reflect.apply(egressPolicy, undefined, [{ [name]: '10.0.0.0/8' }]);
    expect(make).toThrow(new RegExp(`^egressPolicy: ${name} must be (a list\\. |true, false or a list of ports\\.)`));
  },
);

test.each([{}, { allowLoopback: true }, null, [egressPolicy()]])('%o is no policy', (policy) => {
  for (const make of [guardedFetch, guardedPost, guardedDispatcher, guardedAgents, guardedStream]) {
    const message = `${make.name}: policy must be an egress policy. Pass egressPolicy({ … }).`;
    expect(() => Reflect.apply(make, undefined, [{ policy }])).toThrow(new TypeError(message));
  }
});

describe('without options, the policy is the strictest', () => {
  test('of guardedFetch', async () => {
    const fetch = guardedFetch();
    await expect(fetch('https://127.0.0.1/')).rejects.toMatchObject({ code: 'url_rejected' });
    await expect(fetch('http://hooks.example/')).rejects.toMatchObject({ code: 'url_rejected' });
  });

  test('of guardedPost', async () => {
    const request = { url: 'https://169.254.169.254/', headers: {}, body: '{}', timeoutMs: 1000 };
    expect(await guardedPost()(request)).toMatchObject({ kind: 'denied' });
  });
});
