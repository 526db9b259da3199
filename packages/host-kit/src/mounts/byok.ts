import { type Principal, reachesWorkspace } from '@svc/auth';
import { z } from 'zod';
import { factAbout, type RecordAudit } from '../audit/fact.ts';
import { HostError, invalid } from '../errors.ts';
import { SHORTEST_SECRET } from '../execution/secret-patterns.ts';
import { empty, json } from '../http/description.ts';
import { type AuthorizedCall, type MountRoute, mountRoute, parse, type Reply } from '../http/route.ts';
import { type ByokPlace, type ByokSecret, isSecretName, sealedForSecret } from '../ports/byok.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import type { SecretBox } from '../sealing/secret-box.ts';
import { storedName } from '../wire/schemas.ts';

/** The ports of {@link byokRoutes}. */
export interface ByokRoutesOptions extends Pick<HostPorts, 'store' | 'clock'> {
  readonly secrets: SecretBox;
  readonly recordAudit: RecordAudit;
}

/**
 * The routes under `/host/<org>/byok/secrets`: a tenant stores, replaces, lists and removes its own secrets. No route
 * returns the value of a secret. Only the engine opens it, for a run of the same tenant, workspace and mode.
 *
 * @see Interface: Endpoints, host-specific mounts
 */
export function byokRoutes({ store, clock, secrets, recordAudit }: ByokRoutesOptions): MountRoute[] {
  return [
    mountRoute({
      method: 'GET',
      path: '/byok/secrets',
      scope: SCOPE,
      describes: {
        operationId: 'listByokSecrets',
        summary: 'List the names of secrets',
        description: 'The secrets of a workspace by name. No response has the value of a secret.',
        query: {
          ...WORKSPACE_QUERY,
          after: z.string().optional().describe('The `nextAfter` of the previous page.'),
        },
        answers: { 200: json('A page of secrets.', secretPage, PRIVATE) },
      },
      async serve({ principal, query }) {
        const place = placeOf(principal, query.get('workspace') ?? undefined);
        const found = await store.byok.list(place, { after: afterIn(query), limit: PAGE + 1 });
        const page = found.slice(0, PAGE);
        const last = page.at(-1);
        const more = found.length > PAGE && last !== undefined;
        return answer(200, { secrets: page.map(view), ...(more && { nextAfter: last.name }) });
      },
    }),
    mountRoute({
      method: 'PUT',
      path: '/byok/secrets/{name}',
      scope: SCOPE,
      takesBody: true,
      describes: {
        operationId: 'storeByokSecret',
        summary: 'Store a secret',
        description: 'Stores or replaces a secret, encrypted. Only a workflow of the same workspace gets its value.',
        path: NAME_PATH,
        body: byokRequest,
        example: { value: 'sk-of-the-tenant' },
        answers: {
          200: json('The secret is replaced.', secretView, PRIVATE),
          201: json('The secret is stored.', secretView, PRIVATE),
        },
      },
      // Safe without an idempotency key: a repeated PUT stores the same value again.
      async serve(call) {
        const { principal } = call;
        const { value, workspace } = parse(byokRequest, call.json);
        const place = placeOf(principal, workspace);
        const name = nameIn(call);
        const now = clock.now();
        const sealed = secrets.seal(value, sealedForSecret(place, name));
        const secret: ByokSecret = { ...place, name, sealed, createdAt: now, updatedAt: now };
        const isNew = await store.transaction(async (transaction) => {
          const added = await store.byok.put(secret, transaction);
          if (added && (await store.byok.count(place, transaction)) > MAX_SECRETS) throw full();
          await recordAudit(factAbout(principal, { ...place, action: 'byok.put', target: name, at: now }), transaction);
          return added;
        });
        const stored = await store.byok.find(place, name);
        return answer(isNew ? 201 : 200, view(stored ?? secret));
      },
    }),
    mountRoute({
      method: 'DELETE',
      path: '/byok/secrets/{name}',
      scope: SCOPE,
      describes: {
        operationId: 'removeByokSecret',
        summary: 'Remove a secret',
        description: 'Removes a secret. Workflows that begin afterwards do not get it.',
        path: NAME_PATH,
        query: WORKSPACE_QUERY,
        answers: { 204: empty('The secret is removed.') },
        errors: ['not_found'],
      },
      async serve(call) {
        const { principal, query } = call;
        const place = placeOf(principal, query.get('workspace') ?? undefined);
        const name = nameIn(call);
        await store.transaction(async (transaction) => {
          if (!(await store.byok.remove(place, name, transaction))) throw absent();
          await recordAudit(
            factAbout(principal, { ...place, action: 'byok.remove', target: name, at: clock.now() }),
            transaction,
          );
        });
        return { status: 204 };
      },
    }),
  ];
}

/** A scope of this mount: the protocol has none for secrets. */
const SCOPE = 'byok:manage';
const PAGE = 100;
const MAX_SECRETS = 256;
const MAX_VALUE = 8192;

/** A secret is sent in headers, so a value with a line break would break every request that uses it. */
const byokRequest: z.ZodType<{ value: string; workspace?: string | undefined }> = z.strictObject({
  value: z
    .string()
    .min(SHORTEST_SECRET)
    .max(MAX_VALUE)
    .regex(
      /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/,
      'must be printable ASCII that neither begins nor ends with a space',
    ),
  workspace: storedName(128).optional(),
});

const PRIVATE = { headers: ['Cache-Control'] } as const;

const NAME_PATH = {
  name: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/)
    .meta({ description: 'The name of the secret.', examples: ['openai'] }),
};

const WORKSPACE_QUERY = {
  workspace: z.string().optional().describe('The workspace. Default: the first one of the credential.'),
};

const secretView = z
  .object({
    name: z.string(),
    mode: z.enum(['live', 'test']),
    workspace: z.string().optional().describe('Absent: the secret belongs to the whole tenant.'),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'ByokSecret' });

const secretPage = z
  .object({
    secrets: z.array(secretView),
    nextAfter: z.string().optional().describe('The `after` of the next page. Absent on the last one.'),
  })
  .meta({ id: 'ByokSecrets' });

/**
 * The workspace of the request, by default the first of the credential. A credential for all workspaces defaults to the
 * whole tenant.
 */
function placeOf({ tenancy }: Principal, asked: string | undefined): ByokPlace {
  const { tenant, workspaces, mode } = tenancy;
  const workspace = asked ?? (workspaces === 'all' ? undefined : workspaces[0]);
  if (!reachesWorkspace(tenancy, workspace)) {
    throw new HostError('forbidden', 'This credential cannot access the workspace.', { details: undefined });
  }
  return { tenant, mode, ...(workspace !== undefined && { workspace }) };
}

function nameIn({ params }: AuthorizedCall): string {
  const name = params.name ?? '';
  if (isSecretName(name)) return name;
  throw invalid({
    field: 'path.name',
    problem:
      'must have 1 to 128 characters: letters, digits, dots, underscores and hyphens, with a letter or a digit first',
  });
}

function afterIn(query: URLSearchParams): string {
  const after = query.get('after') ?? '';
  if (after === '' || isSecretName(after)) return after;
  throw invalid({ field: 'query.after', problem: 'must be the nextAfter of a page' });
}

function view({ name, workspace, mode, createdAt, updatedAt }: ByokSecret) {
  return {
    name,
    mode,
    ...(workspace !== undefined && { workspace }),
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  };
}

function answer(status: number, body: NonNullable<Reply['body']>): Reply {
  return { status, headers: { 'cache-control': 'private, no-store' }, body };
}

function absent(): HostError {
  return new HostError('not_found', 'There is no such secret.', { details: undefined });
}

function full(): HostError {
  return invalid({
    field: 'path.name',
    problem: `cannot be added: a workspace has at most ${MAX_SECRETS} secrets. Remove one first`,
  });
}
