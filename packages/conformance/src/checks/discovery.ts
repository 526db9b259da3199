import { z } from 'zod';
import { type Api, DISCOVERY_PATH } from '../api.ts';
import { area, type RunnableCheck } from '../check.ts';
import { anObject, body, fits, header, holds, listed, same, shown, status } from '../expect.ts';
import { type Answer, jsonOf } from '../http/answer.ts';
import { capability, overlap } from '../needs.ts';
import {
  ADVERTISEMENT,
  INTEROP,
  isRecord2,
  LIMITS,
  METADATA,
  RECORD_2,
  REMOVED,
  RESERVED,
  ROOT_1,
  recordsOf,
  SIGNING_KEYS,
  WEBHOOKS_1,
  WEBHOOKS_2,
} from '../shapes/discovery.ts';
import { advertised, type Document, isRecord } from '../target.ts';

const SECTION = 'Discovery document (capabilities)';

/** The discovery document: access, content and caching. */
export const discovery: readonly RunnableCheck[] = area('discovery', {}, [
  {
    id: 'public',
    name: 'The discovery document is served as JSON to a request without a credential.',
    rule: ['What the service does', 'operations.service.discovery-unauthenticated'],
    async run({ as }) {
      await documentOf(as('nobody'));
    },
  },
  {
    id: 'versions-listed',
    name: '`protocolVersions[]` lists each `<major>.<minor>` version once, and includes `preferredVersion`.',
    rule: ['Versioning: Advertisement', 'versioning.advertisement.preferred-is-member'],
    async run({ as, major }) {
      const { answer, document } = await documentOf(as('nobody'));
      const { protocolVersions, preferredVersion } = fits(document, ADVERTISEMENT, answer);
      holds(
        protocolVersions.includes(preferredVersion),
        'preferredVersion to be in protocolVersions',
        { protocolVersions, preferredVersion },
        answer,
      );
      holds(new Set(protocolVersions).size === protocolVersions.length, 'each version once', protocolVersions, answer);
      holds(
        protocolVersions.some((version) => version.startsWith(`${major}.`)),
        `a ${major}.x in protocolVersions`,
        protocolVersions,
        answer,
      );
    },
  },
  {
    id: 'preferred-major',
    name: '`preferredVersion` is a `1.x` while the host serves major 1, and a `2.x` otherwise.',
    rule: ['Versioning: Advertisement', 'versioning.advertisement.overlap-prefers-1x'],
    async run({ as }) {
      const { answer, document } = await documentOf(as('nobody'));
      const { protocolVersions, preferredVersion } = fits(document, ADVERTISEMENT, answer);
      const expected = protocolVersions.some((version) => version.startsWith('1.')) ? '1.' : '2.';
      holds(preferredVersion.startsWith(expected), `a preferredVersion of ${expected}x`, preferredVersion, answer);
    },
  },
  {
    id: 'protocol-version-twin',
    name: '`protocolVersion` equals `preferredVersion` while the host serves major 1.',
    rule: ['Version axes', 'versioning.axes.protocol-version-twin'],
    majors: [1],
    async run({ as }) {
      const { answer, document } = await documentOf(as('nobody'));
      same(document.protocolVersion, document.preferredVersion, 'protocolVersion', answer);
    },
  },
  {
    id: 'one-resource',
    name: '`SVC-Version` selects the representation of discovery; without it, `preferredVersion` does.',
    rule: ['Versioning: Overlap behaviour', 'versioning.overlap.one-discovery-resource'],
    needs: [overlap],
    async run({ as, major, target }) {
      const asked = await documentOf(as('nobody'));
      header(asked.answer, 'SVC-Version', new RegExp(`^${major}\\.`));
      const plain = await as('nobody').exactly({ target: DISCOVERY_PATH });
      header(plain, 'SVC-Version', new RegExp(`^${target.preferredVersion?.split('.')[0] ?? '1'}\\.`));
    },
  },
  {
    id: 'v1-root',
    name: 'The major-1 document has versions, envelopes, schema versions and limits at its root.',
    rule: [SECTION, 'discovery.document.v1-root-fields'],
    majors: [1],
    async run({ as }) {
      const { answer, document } = await documentOf(as('nobody'));
      fits(document, ROOT_1, answer);
    },
  },
  {
    id: 'v1-mirror',
    name: 'Every record in `capabilities` of the major-1 document equals the record of that name at the root.',
    rule: [SECTION, 'discovery.document.v1-capabilities-mirror'],
    majors: [1],
    async run({ as }) {
      const { answer, document } = await documentOf(as('nobody'));
      const { capabilities = {} } = document;
      const mirrored = fits(capabilities, anObject, answer);
      for (const [name, record] of Object.entries(mirrored))
        same(document[name], record, `the record ${name} at the root`, answer);
    },
  },
  {
    id: 'v2-closed-root',
    name: 'The root of the major-2 document contains only known metadata and capability records.',
    rule: [SECTION, 'discovery.document.v2-closed-root'],
    majors: [2],
    async run({ as }) {
      const { answer, document } = await documentOf(as('nobody'));
      const others = Object.entries(document).filter(([name, value]) => !METADATA.has(name) && !isRecord2(value));
      holds(
        others.length === 0,
        'only known metadata, and records with status, since and witness',
        Object.fromEntries(others),
        answer,
      );
      const dotted = Object.keys(document).filter((name) => name.includes('.'));
      holds(dotted.length === 0, 'names without a dot', dotted, answer);
    },
  },
  {
    id: 'v2-records',
    name: 'A major-2 record has `status`, `since`, `witness`, and `until` unless it is stable; it has no `supported`.',
    rule: [SECTION, 'discovery.document.v2-record-shape'],
    majors: [2],
    async run({ as }) {
      const { answer, document } = await documentOf(as('nobody'));
      const { protocolVersions } = fits(document, ADVERTISEMENT, answer);
      for (const [name, record] of recordsOf(document)) {
        const { status: stage, since, until } = fits(record, RECORD_2, answer);
        holds(record.supported === undefined, `no member "supported" in ${name}`, record, answer);
        holds(
          (until === undefined) === (stage === 'stable'),
          `until in ${name} exactly when its status is not stable`,
          record,
          answer,
        );
        holds(protocolVersions.includes(since), `since of ${name} to be in protocolVersions`, since, answer);
      }
    },
  },
  {
    id: 'v2-removed',
    name: 'The major-2 document has none of the members that major 2 removed.',
    rule: [SECTION, 'discovery.document.v2-removed-members'],
    majors: [2],
    async run({ as }) {
      const { answer, document } = await documentOf(as('nobody'));
      const found = REMOVED.filter((name) => name in document);
      holds(found.length === 0, `none of ${REMOVED.join(', ')}`, found.join(', '), answer);
    },
  },
  {
    id: 'limits',
    name: 'The `limits` record has `clarificationRounds`, `schemaRounds` and `envelopesPerTurn` as integers.',
    rule: ['Limits', 'limits.discovery.values-as-enforced'],
    async run({ as }) {
      const { answer, document } = await documentOf(as('nobody'));
      fits(document.limits, LIMITS, answer);
    },
  },
  {
    id: 'engine-version',
    name: 'The root of the major-2 document has `engineVersion`, an integer of at least 0.',
    rule: ['Version axes', 'versioning.axes.engine-version-root'],
    majors: [2],
    async run({ as }) {
      const { answer, document } = await documentOf(as('nobody'));
      fits(document.engineVersion, z.int().min(0), answer);
    },
  },
  {
    id: 'event-log-schema',
    name: 'The root of the major-2 document has `eventLogSchemaVersion` 3, the schema of new runs.',
    rule: ['Version axes', 'versioning.axes.event-log-schema-advertised'],
    majors: [2],
    async run({ as }) {
      const { answer, document } = await documentOf(as('nobody'));
      same(document.eventLogSchemaVersion, 3, 'eventLogSchemaVersion', answer);
    },
  },
  {
    id: 'strong-etag',
    name: 'The discovery document has a strong `ETag` that does not change while the document is the same.',
    rule: [SECTION, 'discovery.document.strong-etag'],
    async run({ as }) {
      const first = await documentOf(as('nobody'));
      const tag = header(first.answer, 'ETag', STRONG);
      const second = await documentOf(as('nobody'));
      if (second.answer.text === first.answer.text) header(second.answer, 'ETag', tag);
    },
  },
  {
    id: 'not-modified',
    name: 'Discovery with the current ETag in `If-None-Match` is answered 304 with `SVC-Version` and no body.',
    rule: [SECTION, 'discovery.document.not-modified'],
    async run({ as, major }) {
      const api = as('nobody');
      const tag = header((await documentOf(api)).answer, 'ETag', STRONG);
      for (const value of [tag, `"something-else", ${tag}`]) {
        const again = status(await api.get(DISCOVERY_PATH, { headers: { 'If-None-Match': value } }), 304);
        holds(again.text === '', 'no body', again.text, again);
        header(again, 'SVC-Version', new RegExp(`^${major}\\.`));
      }
      status(await api.get(DISCOVERY_PATH, { headers: { 'If-None-Match': '"something-else"' } }), 200);
    },
  },
  {
    id: 'representations-apart',
    name: 'The discovery documents of major 1 and major 2 have different ETags.',
    rule: [SECTION, 'discovery.document.strong-etag'],
    needs: [overlap],
    majors: [2],
    async run({ as, under }) {
      const [one, two] = await Promise.all([documentOf(under(1, 'nobody')), documentOf(as('nobody'))]);
      const tag = header(one.answer, 'ETag', STRONG);
      holds(two.answer.header('ETag') !== tag, 'an ETag other than that of major 1', tag, two.answer);
    },
  },
  {
    id: 'cacheable',
    name: 'The discovery document has `Cache-Control: public, max-age=300`.',
    rule: [SECTION, 'discovery.document.cache-control'],
    level: 'SHOULD',
    async run({ as }) {
      const { answer } = await documentOf(as('nobody'));
      header(answer, 'Cache-Control', /\bpublic\b/);
      header(answer, 'Cache-Control', /\bmax-age=300\b/);
    },
  },
  {
    id: 'vary',
    name: '`Vary` of the discovery document lists `SVC-Version`.',
    rule: [SECTION, 'discovery.document.vary'],
    async run({ as }) {
      listed((await documentOf(as('nobody'))).answer, 'Vary', 'SVC-Version');
    },
  },
  {
    id: 'webhooks-v1',
    name: 'The major-1 `webhooks` record has `signed: true`, the algorithm `v1`, and at most a boolean `durable`.',
    rule: [SECTION, 'discovery.document.webhooks-v1'],
    majors: [1],
    needs: [capability('webhooks')],
    async run({ as }) {
      const { answer, document } = await documentOf(as('nobody'));
      fits(document.webhooks, WEBHOOKS_1, answer);
    },
  },
  {
    id: 'webhooks-v2',
    name: 'The major-2 `webhooks` record lists the algorithm `v1`, has a valid `retryPolicy` if any, and no `durable`.',
    rule: ['Events: Webhook delivery of events', 'webhooks.durable.v2-facet'],
    majors: [2],
    needs: [capability('webhooks')],
    async run({ as }) {
      const { answer, document } = await documentOf(as('nobody'));
      const record = fits(document.webhooks, WEBHOOKS_2, answer);
      holds(record.signatureAlgorithms.includes('v1'), 'v1 in signatureAlgorithms', record, answer);
      holds(!('durable' in record) && !('signed' in record), 'neither durable nor signed', record, answer);
    },
  },
  {
    id: 'encodings-served',
    name: 'An advertised content encoding is used only for clients that accept it; `Vary` lists `Accept-Encoding`.',
    rule: [SECTION, 'operations.encodings.negotiated'],
    needs: [capability('restTransport', 'contentEncodings')],
    async run({ as, target, major }) {
      const record = advertised(target, major, 'restTransport');
      const codings = fits(record?.contentEncodings, z.array(z.enum(['gzip', 'br', 'zstd'])));
      // The longest document of a host, so that encoding it is worthwhile.
      const ask = (accepted: string) => as('nobody').get('/openapi.json', { headers: { 'Accept-Encoding': accepted } });
      const plain = status(await ask('identity'), 200);
      holds(
        plain.header('Content-Encoding') === undefined,
        'no Content-Encoding for a client that accepts identity alone',
        'one',
        plain,
      );
      listed(plain, 'Vary', 'Accept-Encoding');
      for (const coding of codings) {
        const answer = status(await ask(coding), 200);
        header(answer, 'Content-Encoding', coding);
        listed(answer, 'Vary', 'Accept-Encoding');
        same(jsonOf(answer), jsonOf(plain), 'the decoded document', answer);
      }
    },
  },
  {
    id: 'interop-versions',
    name: 'A2A versions are `<integer>.<integer>`, MCP revisions are dates, and each preferred version is listed.',
    rule: ['Version axes', 'versioning.axes.a2a-versions'],
    async run({ as, major }) {
      const { answer, document } = await documentOf(as('nobody'));
      for (const [name, member, grammar] of INTEROP) {
        const record = document[name];
        if (!isRecord(record) || (major === 1 && record.supported !== true)) continue;
        const versions = record[member];
        if (versions !== undefined) fits(versions, z.array(z.string().regex(grammar)).min(1), answer);
        if (Array.isArray(versions) && record.preferredVersion !== undefined) {
          holds(
            versions.includes(record.preferredVersion),
            `preferredVersion of ${name} to be in its list`,
            record,
            answer,
          );
        }
      }
    },
  },
  {
    id: 'signing-keys',
    name: 'Each entry of `signingKeys` has `keyId`, `alg: ed25519` and `publicKey`, and no unknown member.',
    rule: [SECTION, 'discovery.document.signing-keys'],
    async run({ as }) {
      const { answer, document } = await documentOf(as('nobody'));
      if (document.signingKeys !== undefined) fits(document.signingKeys, SIGNING_KEYS, answer);
    },
  },
  {
    id: 'extensions',
    name: 'Extensions of major 2 are named `<org>.<name>`, and `<org>` is not a reserved name.',
    rule: [SECTION, 'versioning.paths.vendor-advertised'],
    majors: [2],
    async run({ as }) {
      const { answer, document } = await documentOf(as('nobody'));
      const names = Object.keys(fits(document.extensions ?? {}, anObject, answer));
      const wrong = names.filter(
        (name) => !/^[a-z0-9-]+\.[a-z0-9-]+$/.test(name) || RESERVED.has(name.split('.')[0] ?? ''),
      );
      holds(wrong.length === 0, 'extensions named <org>.<name>', shown(wrong), answer);
    },
  },
]);

interface Discovered {
  readonly answer: Answer;
  readonly document: Document;
}

async function documentOf(api: Api): Promise<Discovered> {
  const answer = await api.get(DISCOVERY_PATH);
  return { answer, document: body(answer, 200, anObject) };
}

const STRONG = /^"[^"]*"$/;
