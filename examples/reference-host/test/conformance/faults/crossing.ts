import type { Fault } from '../fault.ts';
import { answering, asking, DISCOVERY, header, valuesOf } from '../meddlers.ts';

export const crossingFaults: readonly Fault[] = [
  {
    fault: 'names another minor version in the answers of one operation',
    breaks: ['crossing.operations-stamped'],
    host: answering(/^DELETE /, (answered, asked) => ({
      ...answered,
      headers: { ...answered.headers, 'svc-version': asked.target.startsWith('/v1') ? '1.0' : '2.7' },
    })),
  },
  {
    fault: 'does not read SVC-Version on the paths of subscriptions',
    breaks: ['crossing.bad-version-everywhere'],
    host: asking(/^[A-Z]+ (\/v1)?\/webhooks/, (asked) => ({
      ...asked,
      headers: { ...asked.headers, 'svc-version': undefined },
    })),
  },
  { fault: 'answers 405 without Allow', breaks: ['crossing.allow'], host: header(/^PATCH /, 'allow', undefined) },
  {
    fault: 'lists the methods of another path in Allow',
    breaks: ['crossing.allow'],
    host: header(/^PATCH (\/v1)?\/runs$/, 'allow', 'GET, HEAD'),
  },
  {
    fault: 'answers 304 to the ETag of the other major',
    breaks: ['crossing.tags-apart'],
    host: answering(DISCOVERY, (answered, asked) =>
      valuesOf(asked, 'if-none-match').length > 0 ? { ...answered, status: 304, body: '' } : answered,
    ),
  },
];
