import { Readable } from 'node:stream';
import type { Fault } from '../fault.ts';
import {
  answering,
  asking,
  json,
  make,
  POLL,
  query,
  refusal,
  STREAM,
  sendingHeader,
  set,
  status,
  text,
} from '../meddlers.ts';

const BOTH_TRANSPORTS = /^GET (\/v1)?\/runs\/[^/?]+\/events/;

export const eventFaults: readonly Fault[] = [
  {
    fault: 'has an engineVersion that is a text on its events',
    breaks: ['events.envelope'],
    host: json(POLL, set('events.*.engineVersion', '1')),
  },
  {
    fault: 'begins to count at 1',
    breaks: ['events.sequence'],
    host: json(
      POLL,
      make('events.*.sequence', (sequence) => Number(sequence) + 1),
    ),
  },
  {
    fault: 'does not say which workflow was started',
    breaks: ['events.started-payload'],
    host: json(POLL, set('events.*.payload.workflowId', undefined)),
  },
  {
    fault: 'ends a run twice',
    breaks: ['events.one-terminal'],
    host: json(
      POLL,
      make('events', (events) => (Array.isArray(events) ? [...events, ...events.slice(-1)] : events)),
    ),
  },
  {
    fault: 'gives events other ids in major 1',
    breaks: ['events.same-log-in-both-majors'],
    host: json(
      /^GET \/v1\/.*\/events\/poll/,
      make('events.*.eventId', (id) => `v1-${id}`),
    ),
  },
  {
    fault: 'does not say in a page whether the run is over',
    breaks: ['events.poll-page'],
    host: json(POLL, set('isComplete', undefined), set('isTerminal', undefined)),
  },
  {
    fault: 'polls from the start, always',
    breaks: ['events.poll-cursor', 'events.poll-past-end', 'events.poll-bad-cursor-400'],
    host: asking(POLL, (asked) => ({ ...asked, target: asked.target.replace(/(last|after)Sequence=[^&]*/, '') })),
  },
  {
    fault: 'does not wait for what may come',
    breaks: ['events.poll-waits'],
    host: (asked, pass) => {
      if (!/Sequence=/.test(asked.target)) return pass(asked);
      const page = { runId: 'acme/x', events: [], lastSequence: 0, status: 'running', isTerminal: false };
      return Promise.resolve(
        refusal(200, asked.target.startsWith('/v1') ? { events: [], isComplete: false } : page, asked),
      );
    },
  },
  {
    fault: 'gives frames no ids',
    breaks: ['events.stream-frames', 'events.stream-debug'],
    host: text(STREAM, (stream) => stream.replace(/^id:.*\n/gm, '')),
  },
  {
    fault: 'leaves the end of a run out of its stream',
    breaks: ['events.stream-ends', 'events.stream-live'],
    host: text(STREAM, (stream) =>
      stream.replace(/(?:^[a-z]+:.*\n)*^event: run\.(?:completed|failed|cancelled)\n(?:^[a-z]+:.*\n)*\n/gm, ''),
    ),
  },
  {
    fault: 'streams everything unless it is asked for less',
    breaks: ['events.stream-updates-default'],
    host: asking(STREAM, (asked) =>
      /streamMode=/.test(asked.target) ? asked : { ...asked, target: `${asked.target}?streamMode=debug` },
    ),
  },
  {
    fault: 'takes every mode for debug',
    breaks: [
      'events.stream-values',
      'events.stream-messages',
      'events.stream-mode-400',
      'events.stream-values-resumes',
    ],
    host: query(STREAM, 'streamMode', 'debug'),
  },
  {
    fault: 'streams from the start, always',
    breaks: ['events.stream-resumes'],
    host: sendingHeader(STREAM, 'last-event-id', undefined),
  },
  {
    fault: 'knows no buffers',
    breaks: ['events.stream-batches', 'events.stream-buffer-400'],
    host: query(STREAM, 'bufferMs'),
  },
  {
    fault: 'says nothing for as long as there is nothing to say',
    breaks: ['events.stream-keep-alive'],
    host: answering(STREAM, (answered) => ({ ...answered, body: Readable.from(withoutComments(answered.body)) })),
  },
  {
    fault: 'takes an unknown run for a bad request',
    breaks: ['events.stream-unknown-404'],
    host: status(BOTH_TRANSPORTS, 404, 400, 'validation_error'),
  },
];

async function* withoutComments(body: string | Readable): AsyncGenerator<string> {
  for await (const chunk of body) yield String(chunk).replace(/^:.*\n\n?/gm, '');
}
