import { createHmac } from 'node:crypto';
import { backChannelLogoutMount, type HostOptions } from '@svc/host-kit';
import { publicChatMount } from '@svc/host-kit/mounts/chat';
import { asMountsDescribed } from '@svc/tools/as-described';
import type { EmailReader } from '../../src/ports/email.ts';
import type { Store } from '../../src/ports/store.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { echoEngine, GITHUB, triggerHost } from '../triggers/trigger-host.ts';

export const HOST = 'https://svc.example.com';
export const PAGE = 'https://www.example.com';
const RELAY = 'the-secret-of-the-relay';
const MAX_BODY_BYTES = 4096;

/** The requests of one client that the host takes in a minute, on each route. */
export const PER_CLIENT = 3;

/** A store that a test can take away. */
function breakableStore() {
  const broken = { isAway: false };
  const store: Store = { ...guarded(memoryStore()), isUnavailable: (error) => error instanceof Away };
  return { store, broken };

  function guarded<Part extends object>(part: Part): Part {
    return new Proxy(part, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value === 'object' && value !== null) return guarded(value);
        if (typeof value !== 'function') return value;
        return (...given: unknown[]) =>
          broken.isAway ? Promise.reject(new Away()) : Reflect.apply(value, target, given);
      },
    });
  }
}

class Away extends Error {}

/** Judges a message by a word of its body. */
const READER: EmailReader = {
  async authenticate(message) {
    const text = Buffer.from(message).toString();
    const dmarc = text.includes('spoofed') ? 'fail' : text.includes('unjudged') ? 'temperror' : 'pass';
    return { dmarc, authors: ['ada@shop.example'], signatures: [] };
  },
  parse: async () => ({
    from: [{ name: '', address: 'ada@shop.example' }],
    ...{ replyTo: [], to: [], cc: [], attachments: [], messageId: '<1@shop.example>', text: 'Hello.' },
  }),
};

/** A request to a public route. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | URLSearchParams | FormData | undefined;
}

export type PublicHost = Awaited<ReturnType<typeof publicHost>>;

/** A host with every route of the kit that verifies its requests itself, whose answers are checked by its description. */
export async function publicHost() {
  const { store, broken } = breakableStore();
  const engine = echoEngine();
  const perClient = { limit: PER_CLIENT, windowSeconds: 60 };
  const rate = { limit: 1000, windowSeconds: 60 };
  const state = { hasWorkspace: true, receiverFails: false };
  const more: Partial<HostOptions> = {
    features: { portal: { pageUrl: `${HOST}/portal/` } },
    authorization: { hasWorkspace: () => state.hasWorkspace },
    mounts: [
      publicChatMount({
        ...{ workflowId: 'echo', tenant: 'acme', workspace: 'acme-prod', waitMs: 0 },
        limits: { perClient, maxBodyBytes: MAX_BODY_BYTES },
      }),
      backChannelLogoutMount({
        perClient,
        async receive(form) {
          if (state.receiverFails) throw new Error('The receiver failed.');
          const isGood = form === 'logout_token=good';
          const body = isGood ? '{}' : '{"error":"invalid_request","error_description":"The token is refused."}';
          return { status: isGood ? 200 : 400, headers: { 'cache-control': 'no-store' }, body };
        },
      }),
    ],
    ports: { log: () => {} },
  };
  const triggers = { maxBodyBytes: MAX_BODY_BYTES, perClient, perTrigger: rate, email: { reader: READER } };
  const world = await triggerHost({ store, engine, triggers, more });
  const { host, register, call } = world;
  const form = await register({ ...FORM });
  const ingest = await register();
  const email = await register({ ...EMAIL });
  let clients = 0;

  async function fetched({ method, path, headers = {}, body }: Sent, address: string) {
    const description = path.startsWith('/portal/') ? 'portal/openapi.json' : 'openapi.json';
    const send = asMountsDescribed((request) => host.fetch(request, { address }), `/host/example/${description}`);
    const init = { method, headers: { ...headers }, ...(body !== undefined && { body }) };
    const response = await send(new Request(`${HOST}/host/example${path}`, init));
    const text = await response.text();
    return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : undefined };
  }

  /** A client of its own sends a request. */
  const send = (sent: Sent) => fetched(sent, `198.51.100.${++clients}`);

  return {
    ...{ host, broken, engine, state, send },
    /** One client sends a request until it is refused as one too many. */
    async flood(sent: Sent) {
      const address = `203.0.113.${++clients}`;
      // The exchange of a code has the limit of every public route.
      for (let requests = 0; requests < 60; requests++) {
        const answer = await fetched(sent, address);
        if (answer.status === 429) return answer;
      }
      return fetched(sent, address);
    },
    session: async (): Promise<string> => (await send({ method: 'POST', path: '/public-chat/sessions' })).body.session,
    say: (session: string, body: object = { message: 'hello' }, headers: object = {}): Sent => ({
      ...{ method: 'POST', path: '/public-chat', body: JSON.stringify(body) },
      headers: { ...JSON_BODY, authorization: `Bearer ${session}`, ...headers },
    }),
    read: (session: string, runId: string): Sent => ({
      ...{ method: 'GET', path: `/public-chat/${runId}` },
      headers: { authorization: `Bearer ${session}` },
    }),
    askToken: (origin: object = { origin: PAGE }, triggerId = form.triggerId): Sent => ({
      ...{ method: 'GET', path: `/forms/${triggerId}/token`, headers: { ...origin } },
    }),
    submit: (body: Sent['body'], origin: object = { origin: PAGE }, triggerId = form.triggerId): Sent => ({
      ...{ method: 'POST', path: `/forms/${triggerId}`, headers: { ...origin }, body },
    }),
    ingest: (body: string, headers: object = {}, triggerId = ingest.triggerId): Sent => ({
      ...{ method: 'POST', path: `/ingest/${triggerId}`, body },
      headers: { ...JSON_BODY, 'x-hub-signature-256': signatureOf(body), 'x-github-event': 'push', ...headers },
    }),
    relay: (text: string, headers: object = {}, triggerId = email.triggerId): Sent => ({
      ...{ method: 'POST', path: `/email/${triggerId}`, body: `From: ada@shop.example\r\n\r\n${text}` },
      headers: { ...RELAYED, ...headers },
    }),
    exchange: (body: string, headers: object = JSON_BODY): Sent => ({
      ...{ method: 'POST', path: '/portal/exchange', headers: { ...headers }, body },
    }),
    async code(): Promise<string> {
      return (await call('owner', 'POST', '/host/example/portal-sessions', { actions: ['view'] })).body.code;
    },
    logout: (body: string, headers: object = FORM_BODY): Sent => ({
      ...{ method: 'POST', path: '/logout', headers: { ...headers }, body },
    }),
  };
}

export const TOO_LARGE = 'x'.repeat(70_000);
export const JSON_BODY = { 'content-type': 'application/json' };
export const TEXT_BODY = { 'content-type': 'text/plain' };
const FORM_BODY = { 'content-type': 'application/x-www-form-urlencoded' };

const RELAYED = {
  authorization: `Bearer ${RELAY}`,
  'content-type': 'message/rfc822',
  'svc-client-address': '198.51.100.7',
  'svc-helo': 'mx.shop.example',
  'svc-mail-from': 'ada@shop.example',
  'svc-rcpt-to': 'orders@svc.example.com',
};
const MAPPING = { workflowId: 'echo', inputs: {} };
const FORM = {
  ...{ source: 'form', webhook: undefined, secret: undefined, form: { origins: [PAGE] }, mapping: MAPPING },
};
const EMAIL = {
  ...{ source: 'email', webhook: undefined, secret: RELAY, mapping: MAPPING },
  email: { senders: ['@shop.example'], recipients: ['orders@svc.example.com'] },
};

function signatureOf(body: string): string {
  return `sha256=${createHmac('sha256', GITHUB.secret).update(body).digest('hex')}`;
}
