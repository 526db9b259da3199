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

/** Replaces the URL of a registration by one that the host accepts. */
const ACCEPTABLE = set('url', 'https://receiver.conformance.invalid/taken');

export const webhookFaults: readonly Fault[] = [
  {
    fault: 'has a wrong secretFingerprint',
    breaks: ['webhooks.registered-v1'],
    host: json(REGISTER_1, set('secretFingerprint', '00000000')),
  },
  {
    fault: 'repeats the secret of the caller',
    breaks: ['webhooks.registered-v2'],
    host: json(REGISTER_2, set('secret', 'x'.repeat(30))),
  },
  {
    fault: 'does not issue a secret',
    breaks: ['webhooks.secret-minted-v2'],
    host: json(REGISTER_2, set('secret', undefined)),
  },
  {
    fault: 'accepts a short secret',
    breaks: ['webhooks.short-secret-400'],
    host: sending(
      REGISTER_2,
      make('secret', (secret) => (typeof secret === 'string' ? secret.padEnd(30, 'x') : secret)),
    ),
  },
  {
    fault: 'accepts a secret of the caller in major 1',
    breaks: ['webhooks.caller-secret-400'],
    host: sending(REGISTER_1, set('secret', undefined)),
  },
  {
    fault: 'registers for its own choice of workspace',
    breaks: ['webhooks.tenant-id-required', 'webhooks.tenant-label-403', 'webhooks.not-a-member-403'],
    host: sending(REGISTER_1, set('tenantId', 'acme-prod')),
  },
  {
    fault: 'lets a key of another workspace register',
    breaks: ['webhooks.other-workspace-403'],
    host: mistaking('otherWorkspace', 'main', REGISTER),
  },
  {
    fault: 'ignores tenantId in major 2',
    breaks: ['webhooks.no-tenant-id-v2'],
    host: sending(REGISTER_2, set('tenantId', undefined)),
  },
  {
    fault: 'accepts a registration without event types',
    breaks: ['webhooks.events-not-empty-400'],
    host: sending(
      REGISTER,
      make('events', (events) => (Array.isArray(events) && events.length > 0 ? events : ['run.completed'])),
    ),
  },
  {
    fault: 'accepts a registration without a URL',
    breaks: ['webhooks.url-required-400'],
    host: sending(REGISTER, (body) => (typeof body.url === 'string' && body.url !== '' ? body : ACCEPTABLE(body))),
  },
  {
    fault: 'accepts an unknown event type',
    breaks: ['webhooks.unknown-event-400'],
    host: sending(
      REGISTER,
      make('events', (events) => (Array.isArray(events) && events.length === 2 ? ['run.completed'] : events)),
    ),
  },
  {
    fault: 'rejects a repeated event type',
    breaks: ['webhooks.repeated-events'],
    host: (asked, pass) =>
      REGISTER.test(`${asked.method} ${asked.target}`) && asked.body.split('run.completed').length > 2
        ? Promise.resolve(refusal(400, { error: 'validation_error', message: 'No.' }, asked))
        : pass(asked),
  },
  {
    fault: 'rejects a name that does not resolve',
    breaks: ['webhooks.name-not-resolved'],
    host: (asked, pass) =>
      REGISTER.test(`${asked.method} ${asked.target}`) && asked.body.includes('.invalid:8443')
        ? Promise.resolve(refusal(400, { error: 'webhook_url_rejected', message: 'No.' }, asked))
        : pass(asked),
  },
  { fault: 'has one subscription for each URL', breaks: ['webhooks.registered-anew'], host: onceForEachUrl() },
  {
    fault: 'accepts a URL of a private network',
    breaks: ['webhooks.url-rejected'],
    host: sending(REGISTER, (body) => (String(body.url).includes('10.') ? ACCEPTABLE(body) : body)),
  },
  {
    fault: 'accepts a loopback URL',
    breaks: ['webhooks.url-loopback-rejected'],
    on: 'closed',
    options: { receiver: false },
    host: sending(REGISTER, (body) => (String(body.url).includes('localhost') ? ACCEPTABLE(body) : body)),
  },
  {
    fault: 'answers an unregistration with 200',
    breaks: ['webhooks.unregistered-204', 'webhooks.unregister-other-major'],
    host: status(UNREGISTER, 204, 200),
  },
  {
    fault: 'answers 204 for an unknown subscription',
    breaks: ['webhooks.unregister-unknown-404', 'webhooks.unregistered-204'],
    host: status(UNREGISTER, 404, 204),
  },
  {
    fault: 'unregisters without tenantId',
    breaks: ['webhooks.unregister-names-workspace'],
    host: query(/^DELETE \/v1\/webhooks\//, 'tenantId', 'acme-prod'),
  },
];

/** Answers each further registration of a URL with the response to the first. */
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
    fault: 'omits deliveries',
    breaks: ['dead-letters.empty'],
    host: json(DEAD_LETTERS, set('deliveries', undefined)),
  },
  {
    fault: 'omits lastStatus',
    breaks: ['dead-letters.exhausted-to-sink'],
    host: json(DEAD_LETTERS, set('deliveries.*.lastStatus', undefined)),
  },
  {
    fault: 'keeps dead letters for a day',
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
    fault: 'lists the oldest dead letter first',
    breaks: ['dead-letters.newest-first'],
    host: json(
      DEAD_LETTERS,
      make('deliveries', (letters) => (Array.isArray(letters) ? [...letters].reverse() : letters)),
    ),
  },
  {
    fault: 'ignores the cursor of dead letters',
    breaks: ['dead-letters.foreign-cursor-400'],
    host: query(DEAD_LETTERS, 'cursor'),
  },
  {
    fault: 'never lists a dead letter',
    breaks: ['dead-letters.failed-to-sink'],
    host: json(DEAD_LETTERS, set('deliveries', [])),
  },
  {
    fault: 'lists dead letters of an unknown subscription',
    breaks: ['dead-letters.unknown-404'],
    host: answering(DEAD_LETTERS, (answered, asked) =>
      answered.status === 404 ? refusal(200, { deliveries: [] }, asked) : answered,
    ),
  },
  {
    fault: 'serves dead letters to another tenant',
    breaks: ['dead-letters.tenant-apart'],
    host: mistaking('otherTenant', 'main', DEAD_LETTERS),
  },
  {
    fault: 'serves dead letters without webhooks:manage',
    breaks: ['dead-letters.scope'],
    host: mistaking('readOnly', 'main', DEAD_LETTERS),
  },
];

export const auditFaults: readonly Fault[] = [
  {
    fault: 'has chainValid true beside an anomaly',
    breaks: ['audit.verified'],
    host: json(AUDIT, set('anomalies', [{ atSeq: 1 }])),
  },
  { fault: 'accepts a malformed range', breaks: ['audit.range-400'], host: query(AUDIT, 'fromSeq', '0') },
  {
    fault: 'signs checkpoints with another key',
    breaks: ['audit.checkpoints-signed'],
    host: json(
      AUDIT,
      make('checkpoints.*.signature', () => Buffer.alloc(64).toString('base64')),
    ),
  },
  { fault: 'verifies without audit:read', breaks: ['audit.scope'], host: mistaking('readOnly', 'main', AUDIT) },
  {
    fault: 'serves verification without advertising it',
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
    fault: 'stores other content than was written',
    breaks: ['workspace-files.written-and-read'],
    host: sending(WRITE, set('content', 'other')),
  },
  {
    fault: 'never increases the version of a file',
    breaks: ['workspace-files.versions-grow'],
    host: json(WRITE, set('version', 1)),
  },
  { fault: 'ignores the prefix of a file list', breaks: ['workspace-files.listed'], host: query(FILE_LIST, 'prefix') },
  {
    fault: 'answers a deletion without deleting',
    breaks: ['workspace-files.deleted'],
    host: instead(/^DELETE \/v1\/host\//, 204),
  },
  {
    fault: 'ignores If-Match of a write',
    breaks: ['workspace-files.conflict-409'],
    host: sendingHeader(WRITE, 'if-match', undefined),
  },
  {
    fault: 'accepts files of any size',
    breaks: ['workspace-files.too-large-413'],
    host: sending(
      WRITE,
      make('content', (content) => String(content).slice(0, 10)),
    ),
  },
  {
    fault: 'accepts any file path',
    breaks: ['workspace-files.bad-path-400'],
    host: answering(WRITE, (answered, asked) =>
      answered.status === 400 ? refusal(200, { path: 'x', version: 1 }, asked) : answered,
    ),
  },
  {
    fault: 'ignores unknown members of a write',
    breaks: ['workspace-files.closed-body-400'],
    host: sending(WRITE, set('conformance', undefined)),
  },
  {
    fault: 'shares files between workspaces',
    breaks: ['workspace-files.workspace-apart'],
    host: mistaking('otherWorkspace', 'main', FILES),
  },
  {
    fault: 'serves files without workspace:read',
    breaks: ['workspace-files.scope'],
    host: mistaking('readOnly', 'main', FILES),
  },
  {
    fault: 'serves files without advertising them',
    breaks: ['workspace-files.unadvertised-501'],
    host: json(/^GET \/\.well-known\/svc$/, set('workspace', undefined)),
  },
];
