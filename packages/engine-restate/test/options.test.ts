import type { WorkflowEngine } from '@svc/host-kit';
import { expect, test } from 'vitest';
import { checkedOptions, type RestateEngineOptions } from '../src/options.ts';

const engine: WorkflowEngine = {
  execute: async () => ({ status: 'completed', outputs: {} }),
};
const least = { engine, ingressUrl: 'http://127.0.0.1:8080', adminUrl: 'http://127.0.0.1:9070', port: 9080 };

test('the options have defaults, and keep what is given', () => {
  expect(checkedOptions(least)).toEqual({ ...least, host: '127.0.0.1', identityKeys: [], turnDays: 7 });
  const given = {
    host: '::',
    handlerUrl: 'https://host-1.example/turns',
    identityKeys: ['publickeyv1_2G8d'],
    turnDays: 3650,
  };
  expect(checkedOptions({ ...least, ...given })).toEqual({ ...least, ...given });
});

test('a slash at the end of a URL means nothing', () => {
  const slashed = {
    ingressUrl: `${least.ingressUrl}/`,
    adminUrl: `${least.adminUrl}/`,
    handlerUrl: 'http://h.example/a/',
  };
  expect(checkedOptions({ ...least, ...slashed })).toMatchObject({ ...least, handlerUrl: 'http://h.example/a' });
});

const WRONG: readonly (readonly [problem: string, options: Record<string, unknown>])[] = [
  ['engine is not a workflow engine. Pass one, such as stepsEngine({ workflows }).', { engine: {} }],
  ['engine is not a workflow engine. Pass one, such as stepsEngine({ workflows }).', { engine: undefined }],
  ['ingressUrl is not a URL of Restate. Write http://HOST:PORT.', { ingressUrl: undefined }],
  ['ingressUrl is not a URL of Restate. Write http://HOST:PORT.', { ingressUrl: '127.0.0.1:8080' }],
  ['adminUrl is not a URL of Restate. Write http://HOST:PORT.', { adminUrl: 'postgres://127.0.0.1/svc' }],
  ['adminUrl is not a URL of Restate. Write http://HOST:PORT.', { adminUrl: 'http://user:word@127.0.0.1:9070' }],
  ['handlerUrl is not a URL of Restate. Write http://HOST:PORT.', { handlerUrl: 'http://127.0.0.1:9080/?a=b' }],
  ['host is not an address. Write one of this machine, such as 127.0.0.1.', { host: '' }],
  ['port must be a whole number from 0 to 65535.', { port: undefined }],
  ['port must be a whole number from 0 to 65535.', { port: 65_536 }],
  ['turnDays must be a whole number from 1 to 3650.', { turnDays: 0.5 }],
  [
    'identityKeys has a text that is no public key. Copy publickeyv1_… from the log of Restate.',
    { identityKeys: ['-----BEGIN PUBLIC KEY-----'] },
  ],
  ['queue is not an option. Remove it.', { queue: 'runs' }],
];

test.each(WRONG)('refuses with: %s', (problem, wrong) => {
  const options = { ...least, ...wrong } as RestateEngineOptions;
  expect(() => checkedOptions(options)).toThrow(new TypeError(`restateEngine: ${problem}`));
});
