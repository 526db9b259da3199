import { type Api, DISCOVERY_PATH } from './api.ts';
import { NOOP, workflowId } from './fixtures.ts';
import { type Answer, jsonOf } from './http/answer.ts';
import { type Caller, KEY_VARIABLES } from './keys.ts';
import { Mismatch } from './mismatch.ts';
import { type ConformanceOptions, UsageError } from './options.ts';
import type { Receiver } from './receiver/receiver.ts';
import type { Major } from './rule.ts';
import { bareId, segment, unknownId } from './shapes/id.ts';
import { besides } from './steps/webhooks.ts';
import { type Document, hasFixture, isRecord, type Target, Unreachable } from './target.ts';

/** Options of `explore`. */
export interface ExploreOptions
  extends Pick<
    ConformanceOptions,
    'url' | 'keys' | 'workspace' | 'workflows' | 'artifactWorkflow' | 'durations' | 'patienceMs'
  > {
  readonly origin: string;
  readonly receiver: Receiver | undefined;
  readonly apiOf: (major: Major, caller: Caller) => Api;
}

/**
 * Reads the host's discovery document, then finds the owner and the scopes of the main key with probe requests. Wrong
 * responses are not reported here: the checks find them.
 *
 * @throws {Unreachable} when the URL does not respond, or does not serve a discovery document
 */
export async function explore(options: ExploreOptions): Promise<Target> {
  const { origin, keys = {}, receiver, apiOf } = options;
  const plain = await discover(origin, apiOf(1, 'nobody'), {});
  if (plain === undefined)
    throw new Unreachable(`${origin}${DISCOVERY_PATH}: is not a discovery document. Pass the origin of a host.`);
  const protocolVersions = textsIn(plain.protocolVersions) ?? textsIn([plain.protocolVersion]) ?? [];
  const majors = ([1, 2] as const).filter((major) =>
    protocolVersions.some((version) => version.startsWith(`${major}.`)),
  );
  const documents = Object.fromEntries(
    await Promise.all(
      majors.map(async (major) => {
        return [major, await discover(origin, apiOf(major, 'nobody'), { 'SVC-Version': String(major) })];
      }),
    ),
  );
  const known: Target = {
    origin,
    majors,
    protocolVersions,
    preferredVersion: typeof plain.preferredVersion === 'string' ? plain.preferredVersion : undefined,
    documents,
    descriptions: Object.fromEntries(
      await Promise.all(majors.map(async (major) => [major, await descriptionOf(apiOf(major, 'nobody'))])),
    ),
    keys,
    tenant: undefined,
    workspace: options.workspace,
    lacking: new Set(),
    receiver,
    undeliverable: undefined,
    receivesOnLoopback: receiver !== undefined && isLoopback(receiver.inbox().url),
    workflows: options.workflows ?? {},
    artifactWorkflow: options.artifactWorkflow,
    durations: options.durations ?? {},
    patienceMs: options.patienceMs ?? PATIENCE_MS,
  };
  // Major 1 first: its snapshot shows more of the owner.
  const major = majors[0];
  if (keys.main === undefined || major === undefined) return known;
  const api = apiOf(major, 'main');
  const owned = { ...known, ...(await ownerOf(api, known)) };
  const lacking = await scopesLacking(api, owned);
  if (lacking === 'rejected')
    throw new UsageError(
      `keys.main (--key, ${KEY_VARIABLES.main}): the host rejects the key with 401 in every probe. Pass a key of this host.`,
    );
  return { ...owned, lacking, undeliverable: await whyUndeliverable(api, { ...owned, lacking }) };
}

const PATIENCE_MS = 10_000;

/** @throws {Unreachable} when the request fails; a response of any kind is a success */
async function discover(origin: string, api: Api, headers: Record<string, string>): Promise<Document | undefined> {
  const answer = await api.exactly({ target: DISCOVERY_PATH, headers }).catch((error: unknown) => {
    if (!(error instanceof Mismatch)) throw error;
    throw new Unreachable(`${origin}: does not respond: ${error.seen}. Start the host, or correct the URL.`);
  });
  const json = jsonOf(answer);
  return isRecord(json) ? json : undefined;
}

/** Returns undefined when the host serves no description. An interruption is noticed by the checks. */
async function descriptionOf(api: Api): Promise<Document | undefined> {
  return recordIn(await api.get('/openapi.json').catch(() => undefined));
}

/** Creates a run and reads its owner. Returns nothing when the host has no no-op fixture. */
async function ownerOf(api: Api, target: Target): Promise<Partial<Pick<Target, 'tenant' | 'workspace'>>> {
  if (!hasFixture(target, NOOP)) return {};
  const created = recordIn(await quietly(api.post('/runs', { workflowId: workflowId(target, NOOP) })));
  if (typeof created?.runId !== 'string') return {};
  const run = recordIn(await quietly(api.get(`/runs/${segment(created.runId)}`)));
  const owner = isRecord(run?.owner) ? run.owner : {};
  const bound = api.major === 2 ? created.runId.slice(0, -bareId(created.runId).length - 1) : undefined;
  const tenant = typeof owner.tenant === 'string' ? owner.tenant : bound;
  const workspace = target.workspace ?? (typeof owner.workspace === 'string' ? owner.workspace : undefined);
  return { tenant, workspace };
}

/**
 * Sends one request for each scope. A scope is lacking only when the response is a 403 that names it. The key is rejected
 * when every response is a 401.
 */
async function scopesLacking(api: Api, { tenant, workspace }: Target): Promise<ReadonlySet<string> | 'rejected'> {
  const nothing = segment(unknownId(api.major, tenant));
  const asked: readonly (readonly [scope: string, answer: Promise<Answer>])[] = [
    ['runs:create', api.post('/runs', {})],
    ['runs:read', api.get(`/runs/${nothing}`)],
    ['runs:cancel', api.post(`/runs/${nothing}/cancel`, {})],
    ['runs:annotate', api.post(`/runs/${nothing}/annotations`, {})],
    ['artifacts:read', api.get(`/runs/${nothing}/artifacts/none`)],
    ['approvals:respond', api.post(`/runs/${nothing}/interrupts/none`, { resumeValue: null })],
    ['manifest:read', api.get('/workflows/none')],
    ['audit:read', api.get('/audit/verify?fromSeq=0&toSeq=0')],
    ['webhooks:manage', api.delete(`/webhooks/${nothing}?tenantId=${segment(workspace ?? 'none')}`)],
    ...(api.major === 1
      ? ([
          ['workspace:read', api.get('/host/workspace/files')],
          ['workspace:write', api.delete('/host/workspace/files/conformance-none')],
        ] as const)
      : []),
  ];
  const lacking = new Set<string>();
  let isRejected = true;
  for (const [scope, answer] of asked) {
    const given = await quietly(answer);
    isRejected &&= given?.status === 401;
    const envelope = recordIn(given);
    const details = isRecord(envelope?.details) ? envelope.details : {};
    const named = envelope?.scopeRequired ?? details.scopeRequired;
    if (given?.status === 403 && named === scope) lacking.add(scope);
  }
  return isRejected ? 'rejected' : lacking;
}

/**
 * Registers the receiver once. Returns the reason when the host rejects its URL: hosts reject loopback addresses by
 * default.
 */
async function whyUndeliverable(api: Api, target: Target): Promise<string | undefined> {
  const { receiver, lacking } = target;
  if (receiver === undefined) return undefined;
  if (lacking.has('webhooks:manage')) return 'the key lacks the scope webhooks:manage';
  const { url } = receiver.inbox();
  const registration = { url, events: ['run.completed'], ...besides({ target }, api.major, crypto.randomUUID()) };
  const answer = await quietly(api.post('/webhooks', registration));
  const registered = recordIn(answer);
  if (registered?.error === 'webhook_url_rejected') {
    const { origin } = new URL(url);
    return `the host rejects the receiver's URL ${origin}; allow the address on the host, or pass --receiver-url`;
  }
  if (answer?.status === 201 && typeof registered?.webhookId === 'string') {
    const query = api.major === 1 ? `?tenantId=${segment(target.workspace ?? '')}` : '';
    await quietly(api.delete(`/webhooks/${segment(registered.webhookId)}${query}`));
  }
  return undefined;
}

/** Returns undefined for a request that failed. */
async function quietly(answer: Promise<Answer>): Promise<Answer | undefined> {
  return answer.catch((error: unknown) => {
    if (error instanceof Mismatch) return undefined;
    throw error;
  });
}

function recordIn(answer: Answer | undefined): Document | undefined {
  const json = answer === undefined ? undefined : jsonOf(answer);
  return isRecord(json) ? json : undefined;
}

function textsIn(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const texts = value.filter((one) => typeof one === 'string');
  return texts.length === 0 ? undefined : texts;
}

function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname);
}
