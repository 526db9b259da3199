import { z } from 'zod';
import { area, type RunnableCheck } from '../check.ts';
import { anObject, body, fits, header, holds, same } from '../expect.ts';
import type { Answer } from '../http/answer.ts';
import { isRecord } from '../target.ts';
import type { World } from '../world.ts';

const RULE = 'Version axes';
const PLACE = '/openapi.json';

/** The OpenAPI description that the host serves. */
export const openapi: readonly RunnableCheck[] = area('openapi', {}, [
  {
    id: 'public',
    name: 'The API description is OpenAPI 3.1, is served without a credential, and has `SVC-Version` of its major.',
    rule: [RULE, 'operations.openapi.served'],
    async run(world) {
      const { answer, document } = await read(world);
      holds(/^3\.1\.[0-9]+$/.test(String(document.openapi)), 'openapi to be 3.1.x', String(document.openapi), answer);
      header(answer, 'SVC-Version', new RegExp(`^${world.major}\\.`));
    },
  },
  {
    id: 'version',
    name: '`info.version` of the API description is a semantic version.',
    rule: [RULE, 'versioning.axes.api-description'],
    async run(world) {
      const { answer, document } = await read(world);
      const { info } = fits(
        document,
        z.looseObject({ info: z.looseObject({ version: z.string(), title: z.string().min(1) }) }),
        answer,
      );
      holds(SEMVER.test(info.version), 'a semantic version', info.version, answer);
    },
  },
  {
    id: 'describes-what-is-served',
    name: 'The API description contains the operations that every host serves, under the paths of its major.',
    rule: [RULE, 'operations.openapi.served'],
    async run(world) {
      const { answer, document } = await read(world);
      const described = new Set(
        operationsIn(document).map(({ method, path }) => `${method} ${path.replace(/\{[^}]+\}/g, '{}')}`),
      );
      const prefix = world.major === 1 ? '/v1' : '';
      const missing = EVERYWHERE.map(([method, path]) => `${method} ${prefix}${path}`).filter(
        (name) => !described.has(name),
      );
      same(missing, [], 'the operations that are missing', answer);
    },
  },
  {
    id: 'one-major',
    name: 'The API description contains paths of its own major only: under `/v1` for major 1, elsewhere for major 2.',
    rule: [RULE, 'operations.openapi.served'],
    async run(world) {
      const { answer, document } = await read(world);
      const others = operationsIn(document)
        .map(({ path }) => path)
        .filter((path) => !path.startsWith('/.well-known/') && path.startsWith('/v1/') !== (world.major === 1));
      same(others, [], 'the list of paths of the other major', answer);
    },
  },
  {
    id: 'well-formed',
    name: 'Every operation has a unique `operationId` and at least one response, and every `$ref` resolves.',
    rule: [RULE, 'operations.openapi.served'],
    async run(world) {
      const { answer, document } = await read(world);
      const operations = operationsIn(document);
      const ids = operations.map(({ operation }) => fits(operation, OPERATION, answer).operationId);
      holds(new Set(ids).size === ids.length, 'a unique operationId for each operation', ids.join(', '), answer);
      const lost = referencesIn(document).filter((reference) => !leadsSomewhere(document, reference));
      same(lost, [], 'the list of references that do not resolve', answer);
    },
  },
]);

const SEMVER = /^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;

const EVERYWHERE: readonly (readonly [method: string, path: string])[] = [
  ['POST', '/runs'],
  ['GET', '/runs/{}'],
  ['GET', '/runs/{}/events'],
  ['GET', '/runs/{}/events/poll'],
  ['POST', '/runs/{}/cancel'],
  ['POST', '/webhooks'],
  ['DELETE', '/webhooks/{}'],
];

const OPERATION = z.looseObject({
  operationId: z.string().min(1),
  responses: anObject.refine((responses) => Object.keys(responses).length > 0, 'must not be empty'),
});

async function read({ as }: World): Promise<{ readonly answer: Answer; readonly document: Record<string, unknown> }> {
  const answer = await as('nobody').get(PLACE);
  return { answer, document: body(answer, 200, anObject) };
}

interface Described {
  readonly method: string;
  readonly path: string;
  readonly operation: unknown;
}

function operationsIn({ paths }: Record<string, unknown>): readonly Described[] {
  const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options'];
  return Object.entries(isRecord(paths) ? paths : {}).flatMap(([path, item]) =>
    Object.entries(isRecord(item) ? item : {})
      .filter(([method]) => METHODS.includes(method))
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

function referencesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isRecord(value)) return [];
  const own = typeof value.$ref === 'string' ? [value.$ref] : [];
  return [...own, ...Object.values(value).flatMap(referencesIn)];
}

/** @see RFC 6901 */
function leadsSomewhere(document: unknown, reference: string): boolean {
  if (!reference.startsWith('#/')) return false;
  const steps = reference
    .slice(2)
    .split('/')
    .map((step) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~'));
  let at: unknown = document;
  for (const step of steps) at = isRecord(at) ? at[step] : Array.isArray(at) ? at[Number(step)] : undefined;
  return at !== undefined;
}
