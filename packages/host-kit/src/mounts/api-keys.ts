import { isOpaqueId } from '@svc/auth';
import { z } from 'zod';
import { invalid } from '../errors.ts';
import { json } from '../http/description.ts';
import { type MountCall, type MountRoute, mountRoute, parse, type Reply } from '../http/route.ts';
import type { JsonObject } from '../json.ts';
import type { KeyServices } from '../keys/key-services.ts';
import {
  createKey,
  type MadeKey,
  type NewKey,
  reachedKey,
  revokeKey,
  rotateKey,
  type SaveKey,
  updateKey,
} from '../keys/manage.ts';
import { quotaUses } from '../keys/quota-uses.ts';
import type { ApiKeyState, StoredApiKey } from '../ports/api-keys.ts';
import type { Save } from '../ports/idempotency.ts';
import type { StoreClock } from '../ports/store-clock.ts';
import {
  apiKeyPage,
  apiKeyView,
  createdKey,
  keyChangeBody,
  type NewKeyBody,
  newKeyBody,
  rotatedKey,
  rotationBody,
  viewOfKey,
} from '../wire/api-key.ts';
import { LIMIT, ok, PRIVATE, pageLimit } from './owned-webhook.ts';
import { requireNames } from './query-names.ts';

/**
 * The routes under `/host/<org>/keys`: a caller with the scope `keys:manage` creates, lists, reads, changes, rotates and
 * revokes keys of its own tenant, mode and workspaces. It gives no authority that it does not hold.
 */
export function apiKeyRoutes(services: ApiKeyRouteServices): MountRoute[] {
  return [...readingRoutes(services), creation(services), ...changingRoutes(services)];
}

const SCOPE = 'keys:manage';

/** The services of the keys, and the clock by which quotas renew. */
export interface ApiKeyRouteServices extends KeyServices {
  readonly storeClock: Pick<StoreClock, 'now'>;
}

function readingRoutes(services: ApiKeyRouteServices): MountRoute[] {
  const { store, clock, storeClock } = services;
  return [
    mountRoute({
      method: 'GET',
      path: '/keys',
      scope: SCOPE,
      describes: {
        operationId: 'listKeys',
        summary: 'List API keys',
        description: 'The keys within the reach of the caller, in the order of their ids. No key itself is shown.',
        query: {
          limit: LIMIT,
          after: z.string().optional().describe('The `nextAfter` of the previous page.'),
          state: z.enum(STATES).optional().describe('Keys in this state alone.'),
          principal: z.string().optional().describe('Keys of this principal alone.'),
        },
        answers: { 200: json('A page of keys.', apiKeyPage, PRIVATE) },
      },
      async serve({ principal, query }) {
        requireOnce(query);
        const limit = pageLimit(query);
        const now = clock.now();
        const found = await store.apiKeys.list(principal.tenancy, {
          after: textIn(query, 'after') ?? '',
          limit: limit + 1,
          state: stateIn(query),
          principal: textIn(query, 'principal'),
          now,
        });
        const page = found.slice(0, limit);
        const last = page.at(-1);
        const more = found.length > limit && last !== undefined;
        const useOf = await quotaUses(store, page, storeClock.now());
        return ok({ keys: page.map((key) => viewOfKey(key, now, useOf(key))), ...(more && { nextAfter: last.id }) });
      },
    }),
    mountRoute({
      method: 'GET',
      path: '/keys/{keyId}',
      scope: SCOPE,
      describes: {
        operationId: 'readKey',
        summary: 'Read an API key',
        description: 'The record of a key. The key itself is not shown.',
        path: KEY_PATH,
        answers: { 200: json('The key.', apiKeyView, PRIVATE) },
        errors: ['not_found'],
      },
      serve: async (call) => recordReply(services, await reachedKey(services, call.principal, idIn(call))),
    }),
  ];
}

function creation(services: KeyServices): MountRoute {
  return mountRoute({
    method: 'POST',
    path: '/keys',
    scope: SCOPE,
    takesBody: true,
    takesKey: true,
    describes: {
      operationId: 'createKey',
      summary: 'Create an API key',
      description:
        'Makes a key, and shows it once. It has no authority that the caller lacks: tenant and mode are those of the ' +
        'caller, and workspaces, scopes, expiry, rate limit, quota and addresses are within those of the caller. A key that ' +
        'a caller with a quota makes draws on the quota of the caller. A repeated ' +
        '`Idempotency-Key` makes no second key, and its reply does not have the key. If the first reply was lost, revoke ' +
        'the key and create another one.',
      body: newKeyBody,
      example: { name: 'Nightly reports', scopes: ['runs:read'] },
      answers: { 201: json('The key and its record.', createdKey, PRIVATE) },
      errors: ['forbidden'],
    },
    serve(call) {
      const asked = newKeyOf(parse(newKeyBody, call.json));
      return shownOnce(services, call, (save) => createKey(services, call.principal, asked, save));
    },
  });
}

function changingRoutes(services: ApiKeyRouteServices): MountRoute[] {
  return [
    mountRoute({
      method: 'PATCH',
      path: '/keys/{keyId}',
      scope: SCOPE,
      takesBody: true,
      describes: {
        operationId: 'updateKey',
        summary: 'Change an API key',
        description:
          'Changes the name, the scopes, the expiry or the quota. Scopes can only become fewer. A caller with a quota of its ' +
          'own only lowers that of a key. Every host of the store goes by the change when the answer is there.',
        path: KEY_PATH,
        body: keyChangeBody,
        example: { scopes: ['runs:read'] },
        answers: { 200: json('The key.', apiKeyView, PRIVATE) },
        errors: ['not_found', 'forbidden'],
      },
      // Safe without an idempotency key: a repeated change changes nothing.
      async serve(call) {
        const { expiresAt, ...rest } = parse(keyChangeBody, call.json);
        const change = { ...rest, expiresAt: typeof expiresAt === 'string' ? Date.parse(expiresAt) : expiresAt };
        return recordReply(services, await updateKey(services, call.principal, idIn(call), change));
      },
    }),
    mountRoute({
      method: 'POST',
      path: '/keys/{keyId}/rotate',
      scope: SCOPE,
      takesBody: true,
      takesKey: true,
      describes: {
        operationId: 'rotateKey',
        summary: 'Rotate an API key',
        description:
          'Makes a key of the same authority, shows it once, and ends the old one after a grace period. The caller needs ' +
          'the authority of the key. A repeated `Idempotency-Key` makes no second key, and its reply does not have the key.',
        path: KEY_PATH,
        body: rotationBody,
        example: { graceSeconds: 86_400 },
        answers: { 201: json('The new key, its record, and that of the old key.', rotatedKey, PRIVATE) },
        errors: ['not_found', 'forbidden'],
      },
      serve(call) {
        const { graceSeconds, expiresAt } = parse(rotationBody, call.json);
        const end = expiresAt === undefined ? undefined : Date.parse(expiresAt);
        return shownOnce(services, call, (save) =>
          rotateKey(services, call.principal, idIn(call), { graceSeconds, expiresAt: end, save }),
        );
      },
    }),
    mountRoute({
      method: 'POST',
      path: '/keys/{keyId}/revoke',
      scope: SCOPE,
      describes: {
        operationId: 'revokeKey',
        summary: 'Revoke an API key',
        description:
          'Ends a key. No request that begins after the answer is accepted, on any host of the store, and streams of the ' +
          'key end. Safe to repeat.',
        path: KEY_PATH,
        answers: { 200: json('The key.', apiKeyView, PRIVATE) },
        errors: ['not_found'],
      },
      serve: async (call) => recordReply(services, await revokeKey(services, call.principal, idIn(call))),
    }),
  ];
}

async function recordReply({ store, clock, storeClock }: ApiKeyRouteServices, key: StoredApiKey): Promise<Reply> {
  const useOf = await quotaUses(store, [key], storeClock.now());
  return ok(viewOfKey(key, clock.now(), useOf(key)));
}

/**
 * Makes a key once under the idempotency key of the request. The stored result has the records alone, so that the key
 * itself is stored nowhere: only the request that made it shows it.
 */
function shownOnce(
  { clock }: KeyServices,
  call: MountCall,
  make: (save: SaveKey) => Promise<MadeKey & { readonly key: string }>,
): Promise<Reply> {
  let shown: string | undefined;
  const perform = async (save: Save<JsonObject>): Promise<JsonObject> => {
    const now = clock.now();
    const resultOf = ({ record, retired }: MadeKey): JsonObject => ({
      apiKey: viewOfKey(record, now),
      ...(retired !== undefined && { retired: viewOfKey(retired, now) }),
    });
    const made = await make((records, transaction) => save(resultOf(records), transaction));
    shown = made.key;
    return resultOf(made);
  };
  return call.once(perform, async (result) =>
    ok({ ...result, ...(shown === undefined ? { keyShownBefore: true } : { key: shown }) }, 201),
  );
}

function newKeyOf({ workspaces, expiresAt, ...body }: NewKeyBody): NewKey {
  return {
    ...body,
    workspaces: workspaces?.includes('*') === true ? 'all' : workspaces,
    expiresAt: expiresAt === undefined ? undefined : Date.parse(expiresAt),
  };
}

const STATES = ['active', 'expired', 'revoked'] as const;

function stateIn(query: URLSearchParams): ApiKeyState | undefined {
  const text = query.get('state');
  const state = STATES.find((known) => known === text);
  if (text !== null && state === undefined) {
    throw invalid({ field: 'query.state', problem: 'must be active, expired or revoked' });
  }
  return state;
}

/** A repeated filter would have no effect. */
function requireOnce(query: URLSearchParams): void {
  requireNames(query, ['limit', 'after', 'state', 'principal']);
  for (const name of query.keys()) {
    if (query.getAll(name).length > 1) throw invalid({ field: `query.${name}`, problem: 'must be given once' });
  }
}

/** Reads an id in the query. An empty `after` is the first page. */
function textIn(query: URLSearchParams, name: string): string | undefined {
  const text = query.get(name) ?? undefined;
  if (text === undefined || (text === '' && name === 'after') || isOpaqueId(text)) return text;
  throw invalid({ field: `query.${name}`, problem: 'must be an id' });
}

const KEY_PATH = { keyId: z.string().min(1).max(128).describe('The id of the key.') };

function idIn({ params }: MountCall): string {
  return params.keyId ?? '';
}
