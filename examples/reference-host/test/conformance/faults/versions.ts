import type { Fault } from '../fault.ts';
import {
  answering,
  asking,
  BULK,
  DISCOVERY,
  EVERYTHING,
  instead,
  refusal,
  sendingHeader,
  status,
  text,
  valuesOf,
} from '../meddlers.ts';

export const versionFaults: readonly Fault[] = [
  {
    fault: 'has another ETag for each minor version',
    breaks: ['versions.minor-selects-nothing'],
    host: answering(DISCOVERY, (answered, asked) => {
      const etag = `"${valuesOf(asked, 'svc-version').join()}"`;
      return { ...answered, headers: { ...answered.headers, etag } };
    }),
  },
  {
    fault: 'answers 400 for an unlisted major',
    breaks: ['versions.unlisted-major-406'],
    host: status(EVERYTHING, 406, 400),
  },
  {
    fault: 'answers 500 for a malformed version',
    breaks: ['versions.malformed-406'],
    host: (asked, pass) =>
      valuesOf(asked, 'svc-version').some((version) => !/^[0-9]+(\.[0-9]+)?$/.test(version))
        ? Promise.resolve(refusal(500, { error: 'internal_error', message: 'Oops.' }, asked))
        : pass(asked),
  },
  {
    fault: 'uses the first of several versions',
    breaks: ['versions.repeated-406'],
    host: asking(EVERYTHING, (asked) => {
      const [first] = valuesOf(asked, 'svc-version').flatMap((value) => value.split(','));
      return first === undefined ? asked : { ...asked, headers: { ...asked.headers, 'svc-version': first.trim() } };
    }),
  },
  {
    fault: 'ignores SVC-Version on /v1 paths',
    breaks: ['versions.v1-path-mismatch-400'],
    host: sendingHeader(/ \/v1\//, 'svc-version', undefined),
  },
  {
    fault: 'accepts a minor version on /v1 paths',
    breaks: ['versions.v1-path-mismatch-400'],
    host: asking(/ \/v1\//, (asked) =>
      valuesOf(asked, 'svc-version')[0]?.startsWith('1.') === true
        ? { ...asked, headers: { ...asked.headers, 'svc-version': '1' } }
        : asked,
    ),
  },
  {
    fault: 'rejects SVC-Version 1 on /v1 paths',
    breaks: ['versions.v1-path-accepts-1'],
    host: (asked, pass) =>
      asked.target.startsWith('/v1') && valuesOf(asked, 'svc-version')[0] === '1'
        ? Promise.resolve(refusal(400, { error: 'protocol_version_mismatch', message: 'No.' }, asked))
        : pass(asked),
  },
  {
    fault: 'authenticates before it checks the version',
    breaks: ['versions.before-authentication'],
    host: (asked, pass) =>
      valuesOf(asked, 'authorization')[0] === 'Bearer not-a-key'
        ? Promise.resolve(
            refusal(401, { error: 'unauthenticated', message: 'No.' }, asked, { 'www-authenticate': 'Bearer' }),
          )
        : pass(asked),
  },
  {
    fault: 'omits SVC-Version from its errors',
    breaks: ['versions.stamped', 'versions.stamped-behind-authentication'],
    host: answering(EVERYTHING, (answered) =>
      answered.status < 400 ? answered : { ...answered, headers: { ...answered.headers, 'svc-version': undefined } },
    ),
  },
  {
    fault: 'serves /v2',
    breaks: ['versions.no-v2-space'],
    host: asking(/ \/v2\//, (asked) => ({
      ...asked,
      target: asked.target.slice(3),
      headers: { ...asked.headers, 'svc-version': '2' },
    })),
  },
  {
    fault: 'has an operation under major 1 alone',
    breaks: ['versions.paired'],
    host: instead(/^POST \/runs:bulk-cancel$/, 404, { error: 'not_found', message: 'No.' }),
  },
  {
    fault: 'ignores SVC-Client-Version',
    breaks: ['versions.client-floor-426'],
    on: 'floor',
    host: sendingHeader(EVERYTHING, 'svc-client-version', undefined),
  },
  {
    fault: 'rejects a malformed SVC-Client-Version',
    breaks: ['versions.client-version-malformed'],
    host: (asked, pass) =>
      valuesOf(asked, 'svc-client-version').length > 0
        ? Promise.resolve(refusal(426, { error: 'client_version_unsupported', message: 'No.' }, asked))
        : pass(asked),
  },
  {
    fault: 'serves one /v1 path after major 1 was retired',
    breaks: ['versions.v1-retired-at-once'],
    on: 'retired',
    host: asking(/ \/v1\/openapi\.json$/, (asked) => ({ ...asked, target: '/openapi.json' })),
  },
  {
    fault: 'answers a bulk cancel with the ids of major 1',
    majors: [2],
    breaks: ['versions.no-bare-id'],
    host: text(BULK, (before) => before.replaceAll('"runId":"acme/', '"runId":"')),
  },
  {
    fault: 'has bare run ids in major 2',
    breaks: ['versions.bound-projection', 'versions.no-bare-id', 'versions.projected-path'],
    host: text(/^GET \/runs\//, (body) => body.replaceAll('"acme/', '"')),
  },
  {
    fault: 'has tenant-bound run ids in major 1',
    breaks: ['versions.v1-reads-v2-run'],
    host: text(/^GET \/v1\/runs\//, (body) => body.replaceAll('"runId":"', '"runId":"acme/')),
  },
  {
    fault: 'answers 404 for an id with ~',
    breaks: ['versions.malformed-projection-400', 'versions.projected-path'],
    host: instead(/^GET \/runs\/acme~/, 404, { error: 'not_found', message: 'No.' }),
  },
];
