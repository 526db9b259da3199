import type { Fault } from '../fault.ts';
import { DISCOVERY, header, instead, json, make, OPENAPI, sendingHeader, set, text, valuesOf } from '../meddlers.ts';

export const discoveryFaults: readonly Fault[] = [
  {
    fault: 'asks for a key to show what it is',
    breaks: ['discovery.public'],
    host: instead(DISCOVERY, 401, { error: 'unauthenticated' }),
  },
  {
    fault: 'prefers a version that it does not list',
    breaks: ['discovery.versions-listed'],
    host: json(DISCOVERY, set('preferredVersion', '1.9')),
  },
  {
    fault: 'prefers major 2 through the overlap',
    breaks: ['discovery.preferred-major'],
    host: json(DISCOVERY, set('preferredVersion', '2.0')),
  },
  {
    fault: 'has a protocolVersion of its own',
    breaks: ['discovery.protocol-version-twin'],
    host: json(DISCOVERY, set('protocolVersion', '1.0')),
  },
  {
    fault: 'shows major 2 to who asks for none',
    breaks: ['discovery.one-resource', 'versions.absent-is-preferred'],
    host: (asked, pass) => {
      const isPlain = valuesOf(asked, 'svc-version').length === 0 && !asked.target.startsWith('/v1');
      return pass(isPlain ? { ...asked, headers: { ...asked.headers, 'svc-version': '2' } } : asked);
    },
  },
  {
    fault: 'leaves required members out',
    breaks: ['discovery.v1-root'],
    host: json(DISCOVERY, set('supportedEnvelopes', undefined)),
  },
  {
    fault: 'has records within capabilities alone',
    breaks: ['discovery.v1-mirror'],
    host: json(DISCOVERY, set('capabilities.kvStorage', { supported: true })),
  },
  {
    fault: 'has a member of its own at the root',
    breaks: ['discovery.v2-closed-root'],
    host: json(DISCOVERY, set('surprise', true)),
  },
  {
    fault: 'says supported in a record of major 2',
    breaks: ['discovery.v2-records'],
    host: json(DISCOVERY, set('webhooks.supported', true)),
  },
  {
    fault: 'keeps hostExtensions in major 2',
    breaks: ['discovery.v2-removed'],
    host: json(DISCOVERY, set('hostExtensions', {})),
  },
  {
    fault: 'leaves a limit out',
    breaks: ['discovery.limits'],
    host: json(DISCOVERY, set('limits.schemaRounds', undefined)),
  },
  {
    fault: 'has an engineVersion that is a text',
    breaks: ['discovery.engine-version'],
    host: json(DISCOVERY, set('engineVersion', '1')),
  },
  {
    fault: 'writes the former event log',
    breaks: ['discovery.event-log-schema'],
    host: json(DISCOVERY, set('eventLogSchemaVersion', 2)),
  },
  { fault: 'has a weak ETag', breaks: ['discovery.strong-etag'], host: header(DISCOVERY, 'etag', 'W/"1"') },
  {
    fault: 'never answers 304',
    breaks: ['discovery.not-modified'],
    host: sendingHeader(DISCOVERY, 'if-none-match', undefined),
  },
  {
    fault: 'has one ETag for both majors',
    breaks: ['discovery.representations-apart'],
    host: header(DISCOVERY, 'etag', '"1"'),
  },
  {
    fault: 'lets nobody keep the document',
    breaks: ['discovery.cacheable'],
    host: header(DISCOVERY, 'cache-control', 'no-store'),
  },
  {
    fault: 'does not tell caches of the version',
    breaks: ['discovery.vary'],
    host: header(DISCOVERY, 'vary', 'Accept'),
  },
  {
    fault: 'signs with an algorithm that nobody knows',
    breaks: ['discovery.webhooks-v1', 'discovery.webhooks-v2'],
    host: json(DISCOVERY, set('webhooks.signatureAlgorithms', ['v9'])),
  },
  {
    fault: 'encodes nothing',
    breaks: ['discovery.encodings-served'],
    host: sendingHeader(OPENAPI, 'accept-encoding', undefined),
  },
  {
    fault: 'speaks A2A in words',
    breaks: ['discovery.interop-versions'],
    host: json(DISCOVERY, set('a2a', { supported: true, protocolVersions: ['one'] })),
  },
  {
    fault: 'has a signing key of another kind',
    breaks: ['discovery.signing-keys'],
    host: json(DISCOVERY, set('signingKeys', [{ keyId: 'k', alg: 'rs256', publicKey: 'x' }])),
  },
  {
    fault: 'takes a reserved name for its extensions',
    breaks: ['discovery.extensions'],
    host: json(DISCOVERY, set('extensions', { 'svc.thing': {} })),
  },
  {
    fault: 'answers as another version than it was asked for',
    breaks: ['versions.listed-major-served', 'versions.stamped'],
    host: header(/^/, 'svc-version', '7.0'),
  },
];

export const openapiFaults: readonly Fault[] = [
  {
    fault: 'describes itself in an older OpenAPI',
    breaks: ['openapi.public'],
    host: json(OPENAPI, set('openapi', '3.0.3')),
  },
  {
    fault: 'describes a version that is none',
    breaks: ['openapi.version'],
    host: json(OPENAPI, set('info.version', 'latest')),
  },
  {
    fault: 'describes nothing',
    breaks: ['openapi.describes-what-is-served'],
    host: json(OPENAPI, set('paths', {})),
  },
  {
    fault: 'describes both majors in one document',
    breaks: ['openapi.one-major'],
    host: json(
      OPENAPI,
      make('paths', (paths) => Object.assign({ '/runs': {}, '/v1/runs': {} }, paths, OF_BOTH)),
    ),
  },
  {
    fault: 'refers to what is not there',
    breaks: ['openapi.well-formed'],
    host: text(OPENAPI, (document) => document.replace('#/components/', '#/nowhere/')),
  },
];

const OPERATION = { get: { operationId: 'x', responses: { 200: {} } } };
const OF_BOTH = { '/v1/of-one': OPERATION, '/of-two': OPERATION };
