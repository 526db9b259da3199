import { KEYS } from '../conforming-config.ts';
import type { Fault } from '../fault.ts';
import { textIn } from '../faulty-proxy.ts';
import {
  answering,
  asking,
  CREATE,
  DISCOVERY,
  EVERYTHING,
  header,
  instead,
  isBy,
  json,
  make,
  mistaking,
  POLL,
  RUN,
  refusal,
  set,
  status,
  UNREGISTER,
  valuesOf,
} from '../meddlers.ts';

export const authenticationFaults: readonly Fault[] = [
  {
    fault: 'serves requests without a credential',
    breaks: ['authentication.missing-401', 'authentication.challenge'],
    host: mistaking('nobody', 'main', / (\/v1)?\/(runs|webhooks)/),
  },
  {
    fault: 'accepts any Authorization header',
    breaks: ['authentication.malformed-401', 'authentication.doubled-header-401', 'authentication.unknown-key-401'],
    host: asking(EVERYTHING, (asked) =>
      valuesOf(asked, 'authorization').length > 0
        ? { ...asked, headers: { ...asked.headers, authorization: `Bearer ${KEYS.main}` } }
        : asked,
    ),
  },
  {
    fault: 'repeats an unknown key in its response',
    breaks: ['authentication.unknown-key-401'],
    host: json(EVERYTHING, (body, asked) => ({
      ...body,
      message: `Unknown: ${valuesOf(asked, 'authorization').join()}`,
    })),
  },
  {
    fault: 'answers 401 unauthenticated for an expired and for a revoked key',
    breaks: ['authentication.expired-401', 'authentication.revoked-401'],
    host: status(EVERYTHING, 401, 401, 'unauthenticated'),
  },
  {
    fault: 'omits WWW-Authenticate',
    breaks: ['authentication.challenge'],
    host: header(EVERYTHING, 'www-authenticate', undefined),
  },
  {
    fault: 'answers 404 for an unknown run before it authenticates',
    breaks: ['authentication.learns-nothing'],
    host: async (asked, pass) => {
      if (valuesOf(asked, 'authorization').length > 0 || asked.method !== 'GET') return pass(asked);
      const known = await pass({ ...asked, headers: { ...asked.headers, authorization: `Bearer ${KEYS.main}` } });
      if (known.status === 404) return known;
      await textIn(known);
      return pass(asked);
    },
  },
  {
    fault: 'accepts a key in the query',
    breaks: ['authentication.credential-in-url'],
    host: asking(EVERYTHING, (asked) => {
      const [key] = new URL(asked.target, 'http://host').searchParams.values();
      const isKey = key !== undefined && key === KEYS.spare;
      return isKey ? { ...asked, headers: { ...asked.headers, authorization: `Bearer ${key}` } } : asked;
    }),
  },
  {
    fault: 'answers 401 to every key',
    breaks: ['authentication.key-accepted'],
    host: answering(/ (\/v1)?\/(runs|webhooks)/, (_answered, asked) =>
      refusal(401, { error: 'unauthenticated', message: 'No.' }, asked, { 'www-authenticate': 'Bearer' }),
    ),
  },
  {
    fault: 'answers 501 to every request with a key',
    breaks: ['authentication.key-accepted'],
    host: answering(/ (\/v1)?\/(runs|webhooks|workflows)/, (_answered, asked) =>
      refusal(501, { error: 'capability_not_provided', message: 'No.', details: { operation: 'none' } }, asked),
    ),
  },
  {
    fault: 'does not serve protected-resource metadata',
    breaks: ['authentication.resource-metadata'],
    on: 'tokens',
    host: instead(/oauth-protected-resource/, 404, { error: 'not_found', message: 'No.' }),
  },
  {
    fault: 'answers 401 for discovery with an invalid key',
    breaks: ['authentication.discovery-ignores-credential'],
    host: (asked, pass) =>
      DISCOVERY.test(`${asked.method} ${asked.target}`) && valuesOf(asked, 'authorization').length > 0
        ? Promise.resolve(refusal(401, { error: 'unauthenticated', message: 'No.' }, asked))
        : pass(asked),
  },
];

export const authorizationFaults: readonly Fault[] = [
  {
    fault: 'grants every scope to a key with runs:read',
    breaks: [
      'authorization.missing-scope-403',
      'authorization.insufficient-scope',
      'authorization.scope-before-body',
      'authorization.scopes-apart',
    ],
    host: mistaking('readOnly', 'main'),
  },
  {
    fault: 'adds scopeRequired to every error',
    breaks: ['authorization.scope-required-403-only'],
    host: json(EVERYTHING, (body, asked) => {
      if (body.error === undefined) return body;
      return asked.target.startsWith('/v1')
        ? { ...body, scopeRequired: 'x:y' }
        : set('details.scopeRequired', 'x:y')(body);
    }),
  },
  {
    fault: 'treats a caller of another tenant as one of the tenant',
    breaks: [
      'authorization.tenant-apart',
      'authorization.tenant-mismatch-before-lookup',
      'authorization.tenant-apart-bare',
    ],
    host: mistaking('otherTenant', 'main'),
  },
  {
    fault: 'answers 404 for an unknown id of another tenant',
    breaks: ['authorization.tenant-mismatch-before-lookup'],
    host: status(EVERYTHING, 403, 404, 'not_found'),
  },
  {
    fault: 'treats a caller of another workspace as one of the workspace',
    breaks: ['authorization.workspace-apart'],
    host: mistaking('otherWorkspace', 'main'),
  },
  {
    fault: 'lets another tenant unregister a subscription',
    breaks: ['authorization.webhook-tenant-apart'],
    host: mistaking('otherTenant', 'main', UNREGISTER),
  },
  {
    fault: 'serves live runs to test keys',
    breaks: ['authorization.test-live-apart'],
    host: mistaking('test', 'main', RUN),
  },
  { fault: 'marks every run as live', breaks: ['authorization.mode-marked'], host: json(RUN, set('mode', 'live')) },
  {
    fault: 'omits the owner of a run',
    breaks: ['authorization.owner-recorded'],
    host: json(RUN, set('owner', undefined)),
  },
  {
    fault: 'has another owner in run.started',
    breaks: ['authorization.owner-echoed'],
    host: json(POLL, set('events.*.payload.owner', {})),
  },
  {
    fault: 'omits Retry-After',
    breaks: ['authorization.rate-limit-429'],
    on: 'limited',
    host: header(EVERYTHING, 'retry-after', undefined),
  },
  {
    fault: 'describes a rate limit in the form of the other major',
    breaks: ['authorization.rate-limit-details'],
    on: 'limited',
    host: json(EVERYTHING, (body, asked) => {
      if (body.error !== 'rate_limited') return body;
      return { ...body, details: asked.target.startsWith('/v1') ? {} : { retryAfterSeconds: 1 } };
    }),
  },
  {
    fault: 'checks the scope before the rate limit',
    breaks: ['authorization.rate-limit-before-scope'],
    on: 'limited',
    host: instead(/ (\/v1)?\/runs:bulk-cancel/, 403, { error: 'forbidden', message: 'No.' }),
  },
  {
    fault: 'limits all keys when one is over its limit',
    breaks: ['authorization.rate-limit-per-key'],
    on: 'limited',
    host: (asked, pass) =>
      isBy(asked, 'main') && asked.target.endsWith('/runs/none')
        ? Promise.resolve(refusal(429, { error: 'rate_limited', message: 'No.' }, asked, { 'retry-after': '1' }))
        : pass(asked),
  },
];

export const errorFaults: readonly Fault[] = [
  {
    fault: 'adds a member to its errors',
    breaks: ['errors.envelope'],
    host: json(EVERYTHING, (body) => (body.error === undefined ? body : { ...body, statusCode: 400 })),
  },
  { fault: 'answers 422 for a body that is not JSON', breaks: ['errors.not-json-400'], host: status(CREATE, 400, 422) },
  {
    fault: 'answers 400 for a form',
    breaks: ['errors.media-type-415'],
    host: status(CREATE, 415, 400, 'validation_error'),
  },
  {
    fault: 'answers 400 for a body that is too large',
    breaks: ['errors.too-large-413'],
    host: status(CREATE, 413, 400, 'validation_error'),
  },
  {
    fault: 'answers 405 for an unadvertised operation',
    breaks: ['errors.gate-off'],
    host: status(/\/trigger-subscriptions$/, [404, 501], 405),
  },
  {
    fault: 'has a stack trace in its errors',
    breaks: ['errors.no-internals'],
    host: json(
      EVERYTHING,
      make('message', () => 'TypeError: x\n    at parse (file:///srv/host/dist/main.js:1:1)'),
    ),
  },
  {
    fault: 'does not name an unknown member',
    breaks: ['errors.unknown-member-named'],
    host: status(CREATE, 400, 400, 'validation_error'),
  },
];
