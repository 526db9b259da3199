import type { Fault } from '../fault.ts';
import { answering, CREATE, EVERYTHING, header, json, OPENAPI, RUN, set, status } from '../meddlers.ts';

export const answerFaults: readonly Fault[] = [
  {
    fault: 'names no version in the answer of one operation',
    breaks: ['answers.stamped'],
    host: header(OPENAPI, 'svc-version', undefined),
  },
  {
    fault: 'adds a member to the refusals of one operation',
    breaks: ['answers.refusals'],
    with: ['errors.envelope'],
    host: json(RUN, (body) => ('error' in body ? { ...body, hint: 'Ask again.' } : body)),
  },
  {
    fault: 'answers not_found with 410',
    breaks: ['answers.codes'],
    with: ['runs.unknown-404'],
    host: status(EVERYTHING, 404, 410),
  },
  {
    fault: 'answers 429 without Retry-After',
    breaks: ['answers.codes'],
    with: ['runs.unknown-404'],
    host: status(RUN, 404, 429, 'rate_limited'),
  },
  {
    fault: 'answers 401 without a challenge',
    breaks: ['answers.challenged'],
    with: ['versions.stamped'],
    host: header(EVERYTHING, 'www-authenticate', undefined),
  },
  {
    fault: 'lists the refused method in Allow',
    breaks: ['answers.allow'],
    with: ['crossing.allow'],
    host: header(/^PATCH /, 'allow', 'GET, PATCH'),
  },
  {
    fault: 'answers with another run',
    breaks: ['answers.named-run'],
    with: ['runs.snapshot'],
    host: json(RUN, set('runId', 'acme/run_of_another_request_than_this_one')),
  },
  {
    fault: 'gives the present status in a repeated reply',
    breaks: ['answers.replays'],
    with: ['idempotency.replayed'],
    host: answering(CREATE, async (answered, asked) => {
      if (answered.headers['svc-idempotent-replay'] === undefined) return answered;
      return json(CREATE, set('status', 'running'))(
        asked,
        async () => answered,
        (same) => same,
      );
    }),
  },
  {
    fault: 'tells another time of an event to a reader with a cursor',
    breaks: ['answers.one-event'],
    with: ['events.poll-cursor'],
    host: json(/\/events\/poll\?.*(last|after)Sequence=0/, set('events.*.timestamp', '2020-01-01T00:00:00.000Z')),
  },
  {
    fault: 'has a number in place of a text that its API description has',
    breaks: ['answers.as-described'],
    with: ['runs.snapshot'],
    host: json(RUN, set('workflowId', 7)),
  },
];
