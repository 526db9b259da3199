import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Api } from '../api.ts';
import { area, type RunnableCheck } from '../check.ts';
import { body, holds, refused, same, status } from '../expect.ts';
import { type Answer, described } from '../http/answer.ts';
import { closedToLoopback, key, overlap, scopes, tenant, workspace } from '../needs.ts';
import { resourceId, segment, unknownId } from '../shapes/id.ts';
import { registered1, registered2 } from '../shapes/webhook.ts';
import { besides, COMPLETED, placeOf, register, SILENT_URL, undo, unregisterAfterwards } from '../steps/webhooks.ts';
import type { World } from '../world.ts';

const SUBSCRIPTION = 'Resources: Webhook subscription';
const ENDPOINTS = 'Endpoints';
const URLS = 'Webhook URL rules at registration';
const SECRET = 'a-secret-that-a-check-brings-0123456789';

/** Registration and unregistration. The URLs never resolve, so nothing is delivered. */
export const webhooks: readonly RunnableCheck[] = area('webhooks', { needs: [scopes('webhooks:manage'), workspace] }, [
  {
    id: 'registered-v1',
    name: 'A registration is answered 201 with an id, a secret of 64 hexadecimal characters and its fingerprint.',
    rule: [SUBSCRIPTION, 'webhooks.registration.v1-response-fields'],
    majors: [1],
    async run(world) {
      const { answer } = await register(world, world.api, { url: SILENT_URL, events: [COMPLETED] });
      const { secret, secretFingerprint } = body(answer, 201, registered1);
      const fingerprint = createHash('sha256').update(secret).digest('hex').slice(0, 8);
      same(secretFingerprint, fingerprint, 'secretFingerprint', answer);
    },
  },
  {
    id: 'registered-v2',
    name: 'A registration with a secret is answered 201 with a tenant-bound `webhookId` and nothing else.',
    rule: [SUBSCRIPTION, 'webhooks.registration.v2-response-with-secret-given'],
    majors: [2],
    async run(world) {
      const { answer } = await register(world, world.api, { url: SILENT_URL, events: [COMPLETED] });
      body(answer, 201, registered2);
      holds(!answer.text.includes('secret'), 'no secret in the answer', described(answer), answer);
    },
  },
  {
    id: 'secret-minted-v2',
    name: 'A registration without a secret is answered 201 with one of at least 24 characters.',
    rule: [SUBSCRIPTION, 'webhooks.registration.v2-secret-minted'],
    majors: [2],
    async run(world) {
      const answer = await world.api.post('/webhooks', { url: SILENT_URL, events: [COMPLETED] });
      const { webhookId } = body(answer, 201, z.strictObject({ webhookId: resourceId[2], secret: z.string().min(24) }));
      unregisterAfterwards(world, world.api, webhookId);
    },
  },
  {
    id: 'short-secret-400',
    name: 'A secret of fewer than 24 bytes is answered 400.',
    rule: [SUBSCRIPTION, 'webhooks.registration.v2-secret-minimum'],
    majors: [2],
    async run(world) {
      const asked = { url: SILENT_URL, events: [COMPLETED], secret: 'x'.repeat(23) };
      await notRegistered(world, asked, 400, 'validation_error');
    },
  },
  {
    id: 'caller-secret-400',
    name: 'A major-1 registration with a secret is answered 400 `validation_error`.',
    rule: [SUBSCRIPTION, 'webhooks.registration.v1-caller-secret-400'],
    majors: [1],
    async run(world) {
      await notRegistered(world, { ...registration(world), secret: SECRET }, 400, 'validation_error');
    },
  },
  {
    id: 'tenant-id-required',
    name: 'A major-1 registration without `tenantId` is answered 400.',
    rule: [SUBSCRIPTION, 'webhooks.registration.v1-tenant-id-required'],
    majors: [1],
    async run(world) {
      await notRegistered(world, { url: SILENT_URL, events: [COMPLETED] }, 400, 'validation_error');
    },
  },
  {
    id: 'tenant-label-403',
    name: "A major-1 registration with the tenant's own id in `tenantId` is answered 403 `forbidden`.",
    rule: [SUBSCRIPTION, 'webhooks.registration.v1-tenant-label-403'],
    majors: [1],
    needs: [tenant],
    async run(world) {
      const asked = { url: SILENT_URL, events: [COMPLETED], tenantId: world.target.tenant };
      await notRegistered(world, asked, 403, 'forbidden');
    },
  },
  {
    id: 'not-a-member-403',
    name: 'A registration for a workspace that does not exist is answered 403 `forbidden`, and not 404.',
    rule: [ENDPOINTS, 'operations.webhooks.v1-register-member'],
    majors: [1],
    async run(world) {
      const asked = { url: SILENT_URL, events: [COMPLETED], tenantId: 'conformance-no-such-workspace' };
      await notRegistered(world, asked, 403, 'forbidden');
    },
  },
  {
    id: 'other-workspace-403',
    name: 'A registration for a workspace that the key does not belong to is answered 403 `forbidden`.',
    rule: [ENDPOINTS, 'operations.webhooks.v1-register-member'],
    majors: [1],
    needs: [key('otherWorkspace')],
    async run(world) {
      await notRegistered(world, registration(world), 403, 'forbidden', world.as('otherWorkspace'));
    },
  },
  {
    id: 'no-tenant-id-v2',
    name: 'A major-2 registration with `tenantId` is answered 400.',
    rule: [SUBSCRIPTION, 'webhooks.registration.v2-no-tenant-id'],
    majors: [2],
    async run(world) {
      // Any text will do: without `--workspace`, the suite knows no workspace.
      const asked = { ...registration(world), tenantId: world.target.workspace ?? 'main' };
      await notRegistered(world, asked, 400, 'validation_error');
    },
  },
  {
    id: 'events-not-empty-400',
    name: 'A registration without event types, or with an empty list, is answered 400.',
    rule: [SUBSCRIPTION, 'webhooks.registration.events-not-empty'],
    async run(world) {
      for (const events of [[], undefined, 'run.completed', [7], ['']]) {
        await notRegistered(world, { ...registration(world), events }, 400, 'validation_error');
      }
    },
  },
  {
    id: 'url-required-400',
    name: 'A registration whose `url` is missing or is not a URI is answered 400.',
    rule: [SUBSCRIPTION, 'webhooks.registration.required-fields'],
    async run(world) {
      for (const url of [undefined, 7]) {
        await notRegistered(world, { ...registration(world), url }, 400, 'validation_error');
      }
      for (const url of ['', 'not a URI', '/hook']) {
        await notRegistered(world, { ...registration(world), url }, 400, 'validation_error', 'webhook_url_rejected');
      }
    },
  },
  {
    id: 'unknown-event-400',
    name: "An event type that is not one of the registration's major is answered 400 and named in the response.",
    rule: [SUBSCRIPTION, 'webhooks.registration.unknown-event-400'],
    async run(world) {
      for (const unknown of ['conformance.no-such-event', SPELLING[world.major === 1 ? 2 : 1]]) {
        const asked = { ...registration(world), events: [COMPLETED, unknown] };
        const answer = await notRegistered(world, asked, 400, 'validation_error');
        holds(answer.text.includes(unknown), `${unknown} in the body`, described(answer), answer);
      }
      await register(world, world.api, { url: SILENT_URL, events: [SPELLING[world.major]] });
    },
  },
  {
    id: 'repeated-events',
    name: 'A registration with a repeated event type is accepted.',
    rule: [SUBSCRIPTION, 'webhooks.registration.duplicate-events-collapse'],
    async run(world) {
      await register(world, world.api, { url: SILENT_URL, events: [COMPLETED, 'run.failed', COMPLETED] });
    },
  },
  {
    id: 'name-not-resolved',
    name: 'A registration whose host name does not resolve is accepted.',
    rule: [SUBSCRIPTION, 'webhooks.registration.no-name-resolution'],
    async run(world) {
      const url = `https://${crypto.randomUUID()}.conformance.invalid:8443/hook?query=kept`;
      await register(world, world.api, { url, events: [COMPLETED] });
    },
  },
  {
    id: 'registered-anew',
    name: 'A second registration of a URL is a new subscription, in major 1 with a new secret.',
    rule: [SUBSCRIPTION, 'webhooks.secret.reregister-mints-new'],
    async run(world) {
      const asked = { url: SILENT_URL, events: [COMPLETED] };
      const [first, second] = [await register(world, world.api, asked), await register(world, world.api, asked)];
      holds(first.webhookId !== second.webhookId, 'a webhookId other than the first', first.webhookId, second.answer);
      if (world.major === 1)
        holds(first.secret !== second.secret, 'a secret other than the first', 'the same secret', second.answer);
    },
  },
  {
    id: 'url-rejected',
    name: 'A URL that is not https, or leads to an address that is not public, is answered 400 `webhook_url_rejected`.',
    rule: [URLS, 'webhooks.url.rejected-400'],
    async run(world) {
      const urls = DENIED.flatMap(({ urls: denied }) => denied);
      const { accepted, last } = await acceptedOf(world, urls);
      same(accepted, [], 'the list of URLs that were accepted', last);
    },
  },
  {
    id: 'url-loopback-rejected',
    name: 'A URL that leads to the host itself, in any spelling, is answered 400 `webhook_url_rejected`.',
    rule: [URLS, 'webhooks.url.loopback'],
    needs: [closedToLoopback],
    async run(world) {
      const { accepted, last } = await acceptedOf(world, LOOPBACK);
      same(accepted, [], 'the list of URLs that were accepted', last);
    },
  },
  {
    id: 'unregistered-204',
    name: 'Unregistering is answered 204 without a body, and 404 the second time.',
    rule: [ENDPOINTS, 'operations.webhooks.v2-unregister'],
    async run(world) {
      const { webhookId } = await register(world, world.api, { url: SILENT_URL, events: [COMPLETED] });
      const place = placeOf(world, world.major, webhookId);
      const first = status(await world.api.delete(place), 204);
      same(first.text, '', 'the body', first);
      refused(await world.api.delete(place), 404, 'not_found');
    },
  },
  {
    id: 'unregister-unknown-404',
    name: 'Unregistering a subscription that does not exist is answered 404.',
    rule: [ENDPOINTS, 'operations.webhooks.v2-unregister-404'],
    async run(world) {
      const place = placeOf(world, world.major, unknownId(world.major, world.target.tenant));
      refused(await world.api.delete(place), 404, 'not_found');
    },
  },
  {
    id: 'unregister-names-workspace',
    name: 'Unregistering under major 1 is answered 400 without `tenantId`, and 403 for another workspace.',
    rule: [ENDPOINTS, 'operations.webhooks.v1-unregister-tenant-id'],
    majors: [1],
    async run(world) {
      const { webhookId } = await register(world, world.api, { url: SILENT_URL, events: [COMPLETED] });
      const place = `/webhooks/${segment(webhookId)}`;
      refused(await world.api.delete(place), 400, 'validation_error');
      const elsewhere = { query: { tenantId: 'conformance-no-such-workspace' } };
      refused(await world.api.delete(place, elsewhere), 403, 'forbidden');
      status(await world.api.delete(placeOf(world, 1, webhookId)), 204);
    },
  },
  {
    id: 'unregister-other-major',
    name: 'A subscription that was registered under one major can be unregistered under the other.',
    rule: ['Versioning: Paths', 'versioning.paths.pairing'],
    majors: [2],
    needs: [overlap, tenant],
    async run(world) {
      const one = world.under(1);
      const { webhookId } = await register(world, one, { url: SILENT_URL, events: [COMPLETED] });
      status(await world.api.delete(`/webhooks/${segment(`${world.target.tenant}/${webhookId}`)}`), 204);
      refused(await one.delete(placeOf(world, 1, webhookId)), 404);
    },
  },
]);

/** One event type in the spelling of each major. */
const SPELLING = { 1: 'envelope.retry.attempted', 2: 'envelope.retry-attempted' } as const;

/** Returns a registration that the host accepts. */
function registration(world: World): { url: string; events: readonly string[] } {
  return { url: SILENT_URL, events: [COMPLETED], ...besides(world, world.major, SECRET) };
}

/** Requires that a registration is refused. An accepted one is unregistered. */
async function notRegistered(
  world: World,
  asked: unknown,
  expected: number,
  ...rest: readonly (string | Api)[]
): Promise<Answer> {
  const codes = rest.filter((one) => typeof one === 'string');
  const [api = world.api] = rest.filter((one) => typeof one !== 'string');
  const answer = await api.post('/webhooks', asked);
  undo(world, answer, api);
  refused(answer, expected, ...codes);
  return answer;
}

/** Returns the URLs that the host accepts. Any other must be answered 400 `webhook_url_rejected`. */
async function acceptedOf(
  world: World,
  urls: readonly string[],
): Promise<{ readonly accepted: readonly string[]; readonly last: Answer | undefined }> {
  const accepted: string[] = [];
  let last: Answer | undefined;
  for (const url of urls) {
    const answer = await world.api.post('/webhooks', { ...registration(world), url });
    undo(world, answer);
    if (answer.status === 201) {
      accepted.push(url);
      last = answer;
    } else refused(answer, 400, 'webhook_url_rejected');
  }
  return { accepted, last };
}

const DENIED: readonly { readonly why: string; readonly urls: readonly string[] }[] = [
  {
    why: 'not https',
    urls: ['http://receiver.conformance.invalid/', 'ftp://receiver.conformance.invalid/', 'file:///etc/passwd'],
  },
  {
    why: 'RFC 1918',
    urls: [
      'https://10.0.0.1/',
      'https://10.255.255.254/',
      'https://172.16.0.1/',
      'https://172.31.255.254/',
      'https://192.168.0.1/',
    ],
  },
  { why: 'link-local', urls: ['https://169.254.1.1/', 'https://[fe80::1]/', 'https://[febf::1]/'] },
  { why: 'IPv6 ULA', urls: ['https://[fc00::1]/', 'https://[fdff::1]/'] },
  {
    why: 'cloud metadata',
    urls: [
      'https://169.254.169.254/latest/',
      'https://metadata/',
      'https://METADATA./',
      'https://metadata.google.internal/',
    ],
  },
  { why: 'IPv4 within IPv6', urls: ['https://[::ffff:10.0.0.1]/', 'https://[::ffff:a9fe:a9fe]/'] },
  {
    why: 'RFC 1918 in another spelling',
    urls: ['https://0x0a000001/', 'https://167772161/', 'https://012.0.0.1/', 'https://10.1/'],
  },
];

const LOOPBACK: readonly string[] = [
  'https://127.0.0.1/',
  'https://127.255.255.254/',
  'https://[::1]/',
  'https://localhost/',
  'https://LOCALHOST./',
  'https://2130706433/',
  'https://0x7f.1/',
  'https://017700000001/',
  'https://[::ffff:127.0.0.1]/',
  'https://0.0.0.0/',
];
