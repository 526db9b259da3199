import type { Fault } from '../fault.ts';
import { type Meddler, textIn } from '../faulty-proxy.ts';
import {
  AUDIT,
  answering,
  DEAD_LETTERS,
  FILES,
  instead,
  json,
  make,
  mistaking,
  query,
  REGISTER,
  refusal,
  sending,
  sendingHeader,
  set,
  status,
  UNREGISTER,
} from '../meddlers.ts';

const REGISTER_1 = /^POST \/v1\/webhooks$/;
const REGISTER_2 = /^POST \/webhooks$/;

/** A URL that the host takes, in place of one that it does not. */
const ACCEPTABLE = set('url', 'https://receiver.conformance.invalid/taken');

export const webhookFaults: readonly Fault[] = [
  {
    fault: 'has a fingerprint of something else',
    breaks: ['webhooks.registered-v1'],
    host: json(REGISTER_1, set('secretFingerprint', '00000000')),
  },
  {
    fault: 'repeats a secret that was brought',
    breaks: ['webhooks.registered-v2'],
    host: json(REGISTER_2, set('secret', 'x'.repeat(30))),
  },
  {
    fault: 'gives who brings no secret none',
    breaks: ['webhooks.secret-minted-v2'],
    host: json(REGISTER_2, set('secret', undefined)),
  },
  {
    fault: 'takes short secrets',
    breaks: ['webhooks.short-secret-400'],
    host: sending(
      REGISTER_2,
      make('secret', (secret) => (typeof secret === 'string' ? secret.padEnd(30, 'x') : secret)),
    ),
  },
  {
    fault: 'takes secrets in major 1',
    breaks: ['webhooks.caller-secret-400'],
    host: sending(REGISTER_1, set('secret', undefined)),
  },
  {
    fault: 'guesses the workspace',
    breaks: ['webhooks.tenant-id-required', 'webhooks.tenant-label-403', 'webhooks.not-a-member-403'],
    host: sending(REGISTER_1, set('tenantId', 'acme-prod')),
  },
  {
    fault: 'lets anybody register for a workspace',
    breaks: ['webhooks.other-workspace-403'],
    host: mistaking('otherWorkspace', 'main', REGISTER),
  },
  {
    fault: 'overlooks tenantId in major 2',
    breaks: ['webhooks.no-tenant-id-v2'],
    host: sending(REGISTER_2, set('tenantId', undefined)),
  },
  {
    fault: 'takes no events for all of them',
    breaks: ['webhooks.events-not-empty-400'],
    host: sending(
      REGISTER,
      make('events', (events) => (Array.isArray(events) && events.length > 0 ? events : ['run.completed'])),
    ),
  },
  {
    fault: 'registers without a URL',
    breaks: ['webhooks.url-required-400'],
    host: sending(REGISTER, (body) => (typeof body.url === 'string' && body.url !== '' ? body : ACCEPTABLE(body))),
  },
  {
    fault: 'takes event types that it does not know',
    breaks: ['webhooks.unknown-event-400'],
    host: sending(
      REGISTER,
      make('events', (events) => (Array.isArray(events) && events.length === 2 ? ['run.completed'] : events)),
    ),
  },
  {
    fault: 'is confused by repetition',
    breaks: ['webhooks.repeated-events'],
    host: (asked, pass) =>
      REGISTER.test(`${asked.method} ${asked.target}`) && asked.body.split('run.completed').length > 2
        ? Promise.resolve(refusal(400, { error: 'validation_error', message: 'No.' }, asked))
        : pass(asked),
  },
  {
    fault: 'resolves names when they are registered',
    breaks: ['webhooks.name-not-resolved'],
    host: (asked, pass) =>
      REGISTER.test(`${asked.method} ${asked.target}`) && asked.body.includes('.invalid:8443')
        ? Promise.resolve(refusal(400, { error: 'webhook_url_rejected', message: 'No.' }, asked))
        : pass(asked),
  },
  { fault: 'registers a URL once', breaks: ['webhooks.registered-anew'], host: onceForEachUrl() },
  {
    fault: 'delivers within its own network',
    breaks: ['webhooks.url-rejected'],
    host: sending(REGISTER, (body) => (String(body.url).includes('10.') ? ACCEPTABLE(body) : body)),
  },
  {
    fault: 'delivers to itself',
    breaks: ['webhooks.url-loopback-rejected'],
    on: 'closed',
    options: { receiver: false },
    host: sending(REGISTER, (body) => (String(body.url).includes('localhost') ? ACCEPTABLE(body) : body)),
  },
  {
    fault: 'answers 200 to an unregistration',
    breaks: ['webhooks.unregistered-204', 'webhooks.unregister-other-major'],
    host: status(UNREGISTER, 204, 200),
  },
  {
    fault: 'unregisters what is not registered',
    breaks: ['webhooks.unregister-unknown-404', 'webhooks.unregistered-204'],
    host: status(UNREGISTER, 404, 204),
  },
  {
    fault: 'unregisters without a workspace',
    breaks: ['webhooks.unregister-names-workspace'],
    host: query(/^DELETE \/v1\/webhooks\//, 'tenantId', 'acme-prod'),
  },
];

/** What was registered for a URL is answered to whoever registers it again. */
function onceForEachUrl(): Meddler {
  const kept = new Map<string, string>();
  return async (asked, pass) => {
    if (!REGISTER.test(`${asked.method} ${asked.target}`)) return pass(asked);
    const key = `${asked.target} ${JSON.parse(asked.body).url}`;
    const former = kept.get(key);
    if (former !== undefined) return refusal(201, JSON.parse(former), asked);
    const answered = await pass(asked);
    const body = await textIn(answered);
    if (answered.status === 201) kept.set(key, body);
    return { ...answered, body };
  };
}

export const deadLetterFaults: readonly Fault[] = [
  {
    fault: 'has no page for none',
    breaks: ['dead-letters.empty'],
    host: json(DEAD_LETTERS, set('deliveries', undefined)),
  },
  {
    fault: 'does not say how it ended',
    breaks: ['dead-letters.exhausted-to-sink'],
    host: json(DEAD_LETTERS, set('deliveries.*.lastStatus', undefined)),
  },
  {
    fault: 'keeps letters for a day',
    breaks: ['dead-letters.retention'],
    host: json(
      DEAD_LETTERS,
      make('deliveries.*', (letter) => ({
        ...Object(letter),
        expiresAt: new Date(Date.parse(Object(letter).deadLetteredAt) + 86_400_000).toISOString(),
      })),
    ),
  },
  {
    fault: 'lists the oldest first',
    breaks: ['dead-letters.newest-first'],
    host: json(
      DEAD_LETTERS,
      make('deliveries', (letters) => (Array.isArray(letters) ? [...letters].reverse() : letters)),
    ),
  },
  { fault: 'takes any cursor', breaks: ['dead-letters.foreign-cursor-400'], host: query(DEAD_LETTERS, 'cursor') },
  {
    fault: 'has an empty sink',
    breaks: ['dead-letters.failed-to-sink'],
    host: json(DEAD_LETTERS, set('deliveries', [])),
  },
  {
    fault: 'has a page for what is not there',
    breaks: ['dead-letters.unknown-404'],
    host: answering(DEAD_LETTERS, (answered, asked) =>
      answered.status === 404 ? refusal(200, { deliveries: [] }, asked) : answered,
    ),
  },
  {
    fault: 'shows letters to another tenant',
    breaks: ['dead-letters.tenant-apart'],
    host: mistaking('otherTenant', 'main', DEAD_LETTERS),
  },
  {
    fault: 'shows letters to readers',
    breaks: ['dead-letters.scope'],
    host: mistaking('readOnly', 'main', DEAD_LETTERS),
  },
];

export const auditFaults: readonly Fault[] = [
  {
    fault: 'calls a broken chain whole',
    breaks: ['audit.verified'],
    host: json(AUDIT, set('anomalies', [{ atSeq: 1 }])),
  },
  { fault: 'takes a range that is none', breaks: ['audit.range-400'], host: query(AUDIT, 'fromSeq', '0') },
  {
    fault: 'signs with another key',
    breaks: ['audit.checkpoints-signed'],
    host: json(
      AUDIT,
      make('checkpoints.*.signature', () => Buffer.alloc(64).toString('base64')),
    ),
  },
  { fault: 'verifies for readers', breaks: ['audit.scope'], host: mistaking('readOnly', 'main', AUDIT) },
  {
    fault: 'verifies and does not say so',
    breaks: ['audit.unadvertised-404'],
    host: json(
      /^GET \/\.well-known\/svc$/,
      set('auditLogIntegrity', undefined),
      set('auth.auditLogIntegrity', undefined),
    ),
  },
];

const WRITE = /^PUT \/v1\/host\/workspace\/files\//;
const FILE_LIST = /^GET \/v1\/host\/workspace\/files(\?|$)/;

export const workspaceFileFaults: readonly Fault[] = [
  {
    fault: 'changes what is written',
    breaks: ['workspace-files.written-and-read'],
    host: sending(WRITE, set('content', 'other')),
  },
  {
    fault: 'has one version of everything',
    breaks: ['workspace-files.versions-grow'],
    host: json(WRITE, set('version', 1)),
  },
  { fault: 'lists everything, always', breaks: ['workspace-files.listed'], host: query(FILE_LIST, 'prefix') },
  { fault: 'deletes in words alone', breaks: ['workspace-files.deleted'], host: instead(/^DELETE \/v1\/host\//, 204) },
  {
    fault: 'overwrites what it was not shown',
    breaks: ['workspace-files.conflict-409'],
    host: sendingHeader(WRITE, 'if-match', undefined),
  },
  {
    fault: 'takes files of any size',
    breaks: ['workspace-files.too-large-413'],
    host: sending(
      WRITE,
      make('content', (content) => String(content).slice(0, 10)),
    ),
  },
  {
    fault: 'takes any path',
    breaks: ['workspace-files.bad-path-400'],
    host: answering(WRITE, (answered, asked) =>
      answered.status === 400 ? refusal(200, { path: 'x', version: 1 }, asked) : answered,
    ),
  },
  {
    fault: 'overlooks members that it does not know',
    breaks: ['workspace-files.closed-body-400'],
    host: sending(WRITE, set('conformance', undefined)),
  },
  {
    fault: 'has one set of files for all',
    breaks: ['workspace-files.workspace-apart'],
    host: mistaking('otherWorkspace', 'main', FILES),
  },
  {
    fault: 'lets a reader of runs read files',
    breaks: ['workspace-files.scope'],
    host: mistaking('readOnly', 'main', FILES),
  },
  {
    fault: 'serves files and does not say so',
    breaks: ['workspace-files.unadvertised-501'],
    host: json(/^GET \/\.well-known\/svc$/, set('workspace', undefined)),
  },
];
