import type { Fault } from '../fault.ts';
import { textIn } from '../faulty-proxy.ts';
import { KEYS } from '../hosts.ts';
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
    fault: 'serves who says nothing of itself',
    breaks: ['authentication.missing-401', 'authentication.challenge'],
    host: mistaking('nobody', 'main', / (\/v1)?\/(runs|webhooks)/),
  },
  {
    fault: 'is content with any Authorization header',
    breaks: ['authentication.malformed-401', 'authentication.doubled-header-401', 'authentication.unknown-key-401'],
    host: asking(EVERYTHING, (asked) =>
      valuesOf(asked, 'authorization').length > 0
        ? { ...asked, headers: { ...asked.headers, authorization: `Bearer ${KEYS.main}` } }
        : asked,
    ),
  },
  {
    fault: 'repeats a key that it does not know',
    breaks: ['authentication.unknown-key-401'],
    host: json(EVERYTHING, (body, asked) => ({
      ...body,
      message: `Unknown: ${valuesOf(asked, 'authorization').join()}`,
    })),
  },
  {
    fault: 'does not say why a key is of no use',
    breaks: ['authentication.expired-401', 'authentication.revoked-401'],
    host: status(EVERYTHING, 401, 401, 'unauthenticated'),
  },
  {
    fault: 'does not challenge',
    breaks: ['authentication.challenge'],
    host: header(EVERYTHING, 'www-authenticate', undefined),
  },
  {
    fault: 'tells strangers what exists',
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
    fault: 'reads keys from the URL',
    breaks: ['authentication.credential-in-url'],
    host: asking(EVERYTHING, (asked) => {
      const [key] = new URL(asked.target, 'http://host').searchParams.values();
      const isKey = key !== undefined && key === KEYS.spare;
      return isKey ? { ...asked, headers: { ...asked.headers, authorization: `Bearer ${key}` } } : asked;
    }),
  },
  {
    fault: 'knows no keys',
    breaks: ['authentication.key-accepted'],
    host: answering(/ (\/v1)?\/(runs|webhooks)/, (_answered, asked) =>
      refusal(401, { error: 'unauthenticated', message: 'No.' }, asked, { 'www-authenticate': 'Bearer' }),
    ),
  },
  {
    fault: 'does not tell who issues its tokens',
    breaks: ['authentication.resource-metadata'],
    on: 'tokens',
    host: instead(/oauth-protected-resource/, 404, { error: 'not_found', message: 'No.' }),
  },
  {
    fault: 'is offended by a wrong key on discovery',
    breaks: ['authentication.discovery-ignores-credential'],
    host: (asked, pass) =>
      DISCOVERY.test(`${asked.method} ${asked.target}`) && valuesOf(asked, 'authorization').length > 0
        ? Promise.resolve(refusal(401, { error: 'unauthenticated', message: 'No.' }, asked))
        : pass(asked),
  },
];

export const authorizationFaults: readonly Fault[] = [
  {
    fault: 'lets a reader do everything',
    breaks: [
      'authorization.missing-scope-403',
      'authorization.insufficient-scope',
      'authorization.scope-before-body',
      'authorization.scopes-apart',
    ],
    host: mistaking('readOnly', 'main'),
  },
  {
    fault: 'says that a scope is missing when nothing is',
    breaks: ['authorization.scope-required-403-only'],
    host: json(EVERYTHING, (body, asked) => {
      if (body.error === undefined) return body;
      return asked.target.startsWith('/v1')
        ? { ...body, scopeRequired: 'x:y' }
        : set('details.scopeRequired', 'x:y')(body);
    }),
  },
  {
    fault: 'takes another tenant for its own',
    breaks: [
      'authorization.tenant-apart',
      'authorization.tenant-mismatch-before-lookup',
      'authorization.tenant-apart-bare',
    ],
    host: mistaking('otherTenant', 'main'),
  },
  {
    fault: 'looks an id of another tenant up before it refuses it',
    breaks: ['authorization.tenant-mismatch-before-lookup'],
    host: status(EVERYTHING, 403, 404, 'not_found'),
  },
  {
    fault: 'takes another workspace for its own',
    breaks: ['authorization.workspace-apart'],
    host: mistaking('otherWorkspace', 'main'),
  },
  {
    fault: 'lets another tenant unregister',
    breaks: ['authorization.webhook-tenant-apart'],
    host: mistaking('otherTenant', 'main', UNREGISTER),
  },
  {
    fault: 'shows live runs to test keys',
    breaks: ['authorization.test-live-apart'],
    host: mistaking('test', 'main', RUN),
  },
  { fault: 'marks nothing as a test', breaks: ['authorization.mode-marked'], host: json(RUN, set('mode', 'live')) },
  {
    fault: 'forgets who made a run',
    breaks: ['authorization.owner-recorded'],
    host: json(RUN, set('owner', undefined)),
  },
  {
    fault: 'tells another owner in run.started',
    breaks: ['authorization.owner-echoed'],
    host: json(POLL, set('events.*.payload.owner', {})),
  },
  {
    fault: 'does not say when to come again',
    breaks: ['authorization.rate-limit-429'],
    on: 'limited',
    host: header(EVERYTHING, 'retry-after', undefined),
  },
  {
    fault: 'tells its limits in the form of the other major',
    breaks: ['authorization.rate-limit-details'],
    on: 'limited',
    host: json(EVERYTHING, (body, asked) => {
      if (body.error !== 'rate_limited') return body;
      return { ...body, details: asked.target.startsWith('/v1') ? {} : { retryAfterSeconds: 1 } };
    }),
  },
  {
    fault: 'judges scopes before limits',
    breaks: ['authorization.rate-limit-before-scope'],
    on: 'limited',
    host: instead(/ (\/v1)?\/runs:bulk-cancel/, 403, { error: 'forbidden', message: 'No.' }),
  },
  {
    fault: 'limits everybody when it limits one',
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
    fault: 'adds members to its errors',
    breaks: ['errors.envelope'],
    host: json(EVERYTHING, (body) => (body.error === undefined ? body : { ...body, statusCode: 400 })),
  },
  { fault: 'says 422 to what is no JSON', breaks: ['errors.not-json-400'], host: status(CREATE, 400, 422) },
  {
    fault: 'says 400 to a form',
    breaks: ['errors.media-type-415'],
    host: status(CREATE, 415, 400, 'validation_error'),
  },
  {
    fault: 'says 400 to what is too large',
    breaks: ['errors.too-large-413'],
    host: status(CREATE, 413, 400, 'validation_error'),
  },
  {
    fault: 'says 405 to what is not provided',
    breaks: ['errors.gate-off'],
    host: status(/\/annotations$/, [404, 501], 405),
  },
  {
    fault: 'tells where it broke',
    breaks: ['errors.no-internals'],
    host: json(
      EVERYTHING,
      make('message', () => 'TypeError: x\n    at parse (file:///srv/host/dist/main.js:1:1)'),
    ),
  },
  {
    fault: 'does not say what is wrong',
    breaks: ['errors.unknown-member-named'],
    host: status(CREATE, 400, 400, 'validation_error'),
  },
];
