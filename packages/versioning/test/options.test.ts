import { expect, test } from 'vitest';
import { versioning as expressVersioning } from '../src/adapters/express.ts';
import { versioning as fastifyVersioning } from '../src/adapters/fastify.ts';
import { type FetchVersioningOptions, versioning as fetchVersioning } from '../src/adapters/fetch.ts';
import { versioning as honoVersioning } from '../src/adapters/hono.ts';
import { versioning as nodeVersioning } from '../src/adapters/node.ts';
import { versionedFetch } from '../src/client.ts';
import { served } from '../src/index.ts';

const protocol = served({ versions: ['2.0'], preferred: '2.0' });
const options: FetchVersioningOptions = { served: protocol, operation: () => new Response() };

/** Mistyped options, as JavaScript lets them pass. */
const typo = { retirment: {} };

test.each([
  [
    'served',
    () => served({ versions: ['2.0'], preferred: '2.0', ...{ minClientVersions: '1.0' } }),
    'minClientVersion',
  ],
  ['versionedFetch', () => versionedFetch({ major: 2, ...{ clientVerison: '1.0' } }), 'clientVersion'],
  ['versioning', () => fetchVersioning({ ...options, ...typo }), 'retirement'],
  ['versioning', () => honoVersioning({ served: protocol, ...typo }), 'retirement'],
  ['versioning', () => expressVersioning({ served: protocol, ...typo }), 'retirement'],
  ['versioning', () => fastifyVersioning({ served: protocol, ...typo }), 'retirement'],
])('%s rejects an unknown option, and names the one that was meant', (owner, make, meant) => {
  expect(make).toThrow(TypeError);
  expect(make).toThrow(new RegExp(`^${owner}: unknown option \\w+\\. Did you mean ${meant}\\?$`));
});

test.each([
  ['fetch', () => Reflect.apply(fetchVersioning, undefined, [{ operation: () => new Response() }])],
  ['hono', () => Reflect.apply(honoVersioning, undefined, [{}])],
  ['express', () => Reflect.apply(expressVersioning, undefined, [{}])],
  ['fastify', () => Reflect.apply(fastifyVersioning, undefined, [{}])],
  ['node', () => Reflect.apply(nodeVersioning, undefined, [{}])],
])('versioning of ./%s without served is refused when it is made', (_entry, make) => {
  expect(make).toThrow(TypeError);
  expect(make).toThrow('versioning: served is required. Pass served({');
});

test('versioning of ./fetch without operation is refused when it is made', () => {
  const make = () => Reflect.apply(fetchVersioning, undefined, [{ served: protocol }]);
  expect(make).toThrow('versioning: operation must be a function. Pass one that answers');
});

test('versioning with options in place of served() says what makes it', () => {
  const make = () => Reflect.apply(nodeVersioning, undefined, [{ served: { versions: ['2.0'], preferred: '2.0' } }]);
  expect(make).toThrow('versioning: served must be made by served(). Pass served({');
});
