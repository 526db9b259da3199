import type { Fault } from '../fault.ts';
import { DISCOVERY, header, instead, json, make, OPENAPI, sendingHeader, set, text, valuesOf } from '../meddlers.ts';

export const discoveryFaults: readonly Fault[] = [
  {
    fault: 'requires a key for discovery',
    breaks: ['discovery.public'],
    host: instead(DISCOVERY, 401, { error: 'unauthenticated' }),
  },
  {
    fault: 'has a preferredVersion that it does not list',
    breaks: ['discovery.versions-listed'],
    host: json(DISCOVERY, set('preferredVersion', '1.9')),
  },
  {
    fault: 'prefers major 2 while it serves major 1',
    breaks: ['discovery.preferred-major'],
    host: json(DISCOVERY, set('preferredVersion', '2.0')),
  },
  {
    fault: 'has a protocolVersion other than preferredVersion',
    breaks: ['discovery.protocol-version-twin'],
    host: json(DISCOVERY, set('protocolVersion', '1.0')),
  },
  {
    fault: 'serves major 2 without SVC-Version',
    breaks: ['discovery.one-resource', 'versions.absent-is-preferred'],
    host: (asked, pass) => {
      const isPlain = valuesOf(asked, 'svc-version').length === 0 && !asked.target.startsWith('/v1');
      return pass(isPlain ? { ...asked, headers: { ...asked.headers, 'svc-version': '2' } } : asked);
    },
  },
  {
    fault: 'omits supportedEnvelopes',
    breaks: ['discovery.v1-root'],
    host: json(DISCOVERY, set('supportedEnvelopes', undefined)),
  },
  {
    fault: 'has a record in capabilities alone',
    breaks: ['discovery.v1-mirror'],
    host: json(DISCOVERY, set('capabilities.kvStorage', { supported: true })),
  },
  {
    fault: 'has an unknown member at the major-2 root',
    breaks: ['discovery.v2-closed-root'],
    host: json(DISCOVERY, set('surprise', true)),
  },
  {
    fault: 'has supported in a record of major 2',
    breaks: ['discovery.v2-records'],
    host: json(DISCOVERY, set('webhooks.supported', true)),
  },
  {
    fault: 'keeps hostExtensions in major 2',
    breaks: ['discovery.v2-removed'],
    host: json(DISCOVERY, set('hostExtensions', {})),
  },
  {
    fault: 'omits a limit',
    breaks: ['discovery.limits'],
    host: json(DISCOVERY, set('limits.schemaRounds', undefined)),
  },
  {
    fault: 'has a string engineVersion',
    breaks: ['discovery.engine-version'],
    host: json(DISCOVERY, set('engineVersion', '1')),
  },
  {
    fault: 'advertises eventLogSchemaVersion 2',
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
    fault: 'forbids caches to store the document',
    breaks: ['discovery.cacheable'],
    host: header(DISCOVERY, 'cache-control', 'no-store'),
  },
  {
    fault: 'omits SVC-Version from Vary',
    breaks: ['discovery.vary'],
    host: header(DISCOVERY, 'vary', 'Accept'),
  },
  {
    fault: 'advertises an unknown signature algorithm',
    breaks: ['discovery.webhooks-v1', 'discovery.webhooks-v2'],
    host: json(DISCOVERY, set('webhooks.signatureAlgorithms', ['v9'])),
  },
  {
    fault: 'never encodes a response',
    breaks: ['discovery.encodings-served'],
    host: sendingHeader(OPENAPI, 'accept-encoding', undefined),
  },
  {
    fault: 'has a malformed A2A version',
    breaks: ['discovery.interop-versions'],
    host: json(DISCOVERY, set('a2a', { supported: true, protocolVersions: ['one'] })),
  },
  {
    fault: 'has a signing key with another algorithm',
    breaks: ['discovery.signing-keys'],
    host: json(DISCOVERY, set('signingKeys', [{ keyId: 'k', alg: 'rs256', publicKey: 'x' }])),
  },
  {
    fault: 'uses a reserved name for an extension',
    breaks: ['discovery.extensions'],
    host: json(DISCOVERY, set('extensions', { 'svc.thing': {} })),
  },
  {
    fault: 'has another version in SVC-Version than was requested',
    breaks: ['versions.listed-major-served', 'versions.stamped'],
    host: header(/^/, 'svc-version', '7.0'),
  },
];

export const openapiFaults: readonly Fault[] = [
  {
    fault: 'serves an OpenAPI 3.0 description',
    breaks: ['openapi.public'],
    host: json(OPENAPI, set('openapi', '3.0.3')),
  },
  {
    fault: 'has an info.version that is not a semantic version',
    breaks: ['openapi.version'],
    host: json(OPENAPI, set('info.version', 'latest')),
  },
  {
    fault: 'describes no operation',
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
    fault: 'has a reference that does not resolve',
    breaks: ['openapi.well-formed'],
    host: text(OPENAPI, (document) => document.replace('#/components/', '#/nowhere/')),
  },
];

const OPERATION = { get: { operationId: 'x', responses: { 200: {} } } };
const OF_BOTH = { '/v1/of-one': OPERATION, '/of-two': OPERATION };
