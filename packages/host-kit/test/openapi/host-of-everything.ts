import { generateKeyPairSync } from 'node:crypto';
import { apiKeyLane, hashApiKey } from '@svc/auth/api-key';
import { ed25519Signer } from '@svc/auth/audit';
import {
  type ConfiguredKey,
  createHost,
  type MountDefinition,
  type Store,
  storedAccess,
  storedKeys,
  type WorkflowEngine,
} from '@svc/host-kit';
import { chatMount } from '@svc/host-kit/mounts/chat';
import { memoryStore } from '../../src/stores/memory/index.ts';

const ORIGIN = 'https://svc.example.com';
const KEY = 'a-key-that-holds-every-scope-of-the-host';
/** A key that reaches every workspace. */
export const WIDE_KEY = `${KEY}-in-every-workspace`;

/** Asks the same question in each run. */
const engine: WorkflowEngine = {
  version: 1,
  interrupts: ['approval'],
  forks: ['replay', 'branch'],
  compensation: 'reverse-completion',
  describe: (workflowId) => ({ workflowId }),
  async execute(_run, { interrupt }) {
    await interrupt({ nodeId: 'gate', key: 'gate', kind: 'approval', data: { title: 'Publish?' } });
    return { status: 'completed', outputs: {} };
  },
};

const OF_KEYS = { tenant: 'acme', principal: 'p_1', scopes: ['*:*'], mode: 'live' } as const;
const CONFIGURED: readonly ConfiguredKey[] = [
  { ...OF_KEYS, id: 'key_1', hash: hashApiKey(KEY), workspaces: ['acme-prod'] },
  { ...OF_KEYS, id: 'key_2', hash: hashApiKey(WIDE_KEY), workspaces: 'all' },
];

/**
 * A host that serves every operation of the kit, without the mounts of JSON-RPC, and a caller that may do everything.
 *
 * @param store default: in memory
 * @param mounts further mounts. Default: none
 */
export async function hostOfEverything(store: Store = memoryStore(), mounts: readonly MountDefinition[] = []) {
  const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const signer = await ed25519Signer(pem);
  const keys = storedKeys({ store, configured: CONFIGURED });
  const host = createHost({
    store,
    engine,
    authenticate: [apiKeyLane({ keys })],
    secretKey: new Uint8Array(32),
    authorization: { hasWorkspace: () => true },
    baseUrl: ORIGIN,
    audit: { signer },
    features: {
      debugBundles: { signer, keyId: 'bundles-1' },
      portal: { pageUrl: `${ORIGIN}/portal/` },
      workspaceFiles: {},
      triggers: {},
      apiKeys: keys,
      access: storedAccess({
        store,
        roles: { tenants: ['acme'], catalog: [], assignments: [] },
        workloads: { grants: [{ tenant: 'acme', issuer: 'spiffe://acme.example' }], bindings: [] },
      }),
    },
    webhooks: { signatureAlgorithms: ['v1', 'standard-webhooks-1'] },
    protocol: { mirrorReads: { share: 1 } },
    mounts: [chatMount({ workflowId: 'publish' }), ...mounts],
    ports: { transport: async () => ({ kind: 'failed', reason: 'timeout', durationMs: 1 }), log: () => {} },
  });

  async function call(method: string, path: string, body?: unknown, credential = KEY) {
    const headers = {
      authorization: `Bearer ${credential}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(!path.startsWith('/v1/') && { 'svc-version': '2' }),
    };
    const init = { method, headers, body: body === undefined ? null : JSON.stringify(body) };
    const response = await host.fetch(new Request(`${ORIGIN}${path}`, init), { address: '192.0.2.7' });
    return { status: response.status, body: await response.json() };
  }

  return { host, call };
}

/** The paths of the API descriptions of this host. */
export const DESCRIPTIONS = [
  '/v1/openapi.json',
  '/openapi.json',
  '/host/example/openapi.json',
  '/host/example/portal/openapi.json',
] as const;
