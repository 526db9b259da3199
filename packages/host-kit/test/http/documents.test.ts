import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MountDefinition } from '../../src/mounts/mount.ts';
import { type Serving, serve } from '../streams/serving.ts';

/** Cannot be rendered as JSON. */
const broken = {
  get member(): never {
    throw new Error('no such member');
  },
};
const mount: MountDefinition = () => ({
  name: 'cards',
  path: '/cards',
  routes: [],
  documents: new Map([
    ['/cards/whole', () => ({ status: 200, body: { member: 1 } })],
    ['/cards/broken', () => ({ status: 200, body: broken })],
  ]),
});
let serving: Serving;

beforeAll(async () => {
  serving = await serve({ mounts: [mount] });
});
afterAll(() => serving.close());

test('serves a public document of a mount', async () => {
  const response = await fetch(`${serving.url}/host/example/cards/whole`);
  expect([response.status, await response.json()]).toEqual([200, { member: 1 }]);
});

test('answers 500 with a correlation id for a document that cannot be rendered', async () => {
  const response = await fetch(`${serving.url}/host/example/cards/broken`);
  expect(response.status).toBe(500);
  expect(await response.json()).toMatchObject({
    error: 'internal_error',
    details: { correlationId: expect.stringMatching(/^[0-9a-f]{24}$/) },
  });
});
