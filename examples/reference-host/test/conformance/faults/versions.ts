import type { Fault } from '../fault.ts';
import {
  answering,
  asking,
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
    fault: 'takes every minor for a document of its own',
    breaks: ['versions.minor-selects-nothing'],
    host: answering(DISCOVERY, (answered, asked) => {
      const etag = `"${valuesOf(asked, 'svc-version').join()}"`;
      return { ...answered, headers: { ...answered.headers, etag } };
    }),
  },
  {
    fault: 'says 400 to a major that it does not have',
    breaks: ['versions.unlisted-major-406'],
    host: status(EVERYTHING, 406, 400),
  },
  {
    fault: 'breaks over a version that it cannot read',
    breaks: ['versions.malformed-406'],
    host: (asked, pass) =>
      valuesOf(asked, 'svc-version').some((version) => !/^[0-9]+(\.[0-9]+)?$/.test(version))
        ? Promise.resolve(refusal(500, { error: 'internal_error', message: 'Oops.' }, asked))
        : pass(asked),
  },
  {
    fault: 'takes the first of several versions',
    breaks: ['versions.repeated-406'],
    host: asking(EVERYTHING, (asked) => {
      const [first] = valuesOf(asked, 'svc-version').flatMap((value) => value.split(','));
      return first === undefined ? asked : { ...asked, headers: { ...asked.headers, 'svc-version': first.trim() } };
    }),
  },
  {
    fault: 'ignores the version on its v1 paths',
    breaks: ['versions.v1-path-mismatch-400'],
    host: sendingHeader(/ \/v1\//, 'svc-version', undefined),
  },
  {
    fault: 'does not take a minor on its v1 paths',
    breaks: ['versions.v1-path-accepts-1'],
    host: (asked, pass) =>
      asked.target.startsWith('/v1') && valuesOf(asked, 'svc-version')[0]?.includes('.') === true
        ? Promise.resolve(refusal(400, { error: 'protocol_version_mismatch', message: 'No.' }, asked))
        : pass(asked),
  },
  {
    fault: 'asks who it is before it looks at the version',
    breaks: ['versions.before-authentication'],
    host: (asked, pass) =>
      valuesOf(asked, 'authorization')[0] === 'Bearer not-a-key'
        ? Promise.resolve(
            refusal(401, { error: 'unauthenticated', message: 'No.' }, asked, { 'www-authenticate': 'Bearer' }),
          )
        : pass(asked),
  },
  {
    fault: 'does not stamp its refusals',
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
    fault: 'takes clients of any age',
    breaks: ['versions.client-floor-426'],
    on: 'floor',
    host: sendingHeader(EVERYTHING, 'svc-client-version', undefined),
  },
  {
    fault: 'refuses a client whose version it cannot read',
    breaks: ['versions.client-version-malformed'],
    host: (asked, pass) =>
      valuesOf(asked, 'svc-client-version').length > 0
        ? Promise.resolve(refusal(426, { error: 'client_version_unsupported', message: 'No.' }, asked))
        : pass(asked),
  },
  {
    fault: 'keeps a part of /v1 when it retires it',
    breaks: ['versions.v1-retired-at-once'],
    on: 'retired',
    host: asking(/ \/v1\/openapi\.json$/, (asked) => ({ ...asked, target: '/openapi.json' })),
  },
  {
    fault: 'names runs by their bare ids in major 2',
    breaks: ['versions.bound-projection', 'versions.no-bare-id', 'versions.projected-path'],
    host: text(/^GET \/runs\//, (body) => body.replaceAll('"acme/', '"')),
  },
  {
    fault: 'names runs by their bound ids in major 1',
    breaks: ['versions.v1-reads-v2-run'],
    host: text(/^GET \/v1\/runs\//, (body) => body.replaceAll('"runId":"', '"runId":"acme/')),
  },
  {
    fault: 'cannot read a projected id',
    breaks: ['versions.malformed-projection-400', 'versions.projected-path'],
    host: instead(/^GET \/runs\/acme~/, 404, { error: 'not_found', message: 'No.' }),
  },
];
