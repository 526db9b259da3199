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
    fault: 'has a string engineVersion on its events',
    breaks: ['events.envelope'],
    host: json(POLL, set('events.*.engineVersion', '1')),
  },
  {
    fault: 'begins sequences at 1',
    breaks: ['events.sequence'],
    host: json(
      POLL,
      make('events.*.sequence', (sequence) => Number(sequence) + 1),
    ),
  },
  {
    fault: 'omits workflowId from run.started',
    breaks: ['events.started-payload'],
    host: json(POLL, set('events.*.payload.workflowId', undefined)),
  },
  {
    fault: 'has two terminal events',
    breaks: ['events.one-terminal'],
    host: json(
      POLL,
      make('events', (events) => (Array.isArray(events) ? [...events, ...events.slice(-1)] : events)),
    ),
  },
  {
    fault: 'has other event ids in major 1',
    breaks: ['events.same-log-in-both-majors'],
    host: json(
      /^GET \/v1\/.*\/events\/poll/,
      make('events.*.eventId', (id) => `v1-${id}`),
    ),
  },
  {
    fault: 'omits isComplete and isTerminal',
    breaks: ['events.poll-page'],
    host: json(POLL, set('isComplete', undefined), set('isTerminal', undefined)),
  },
  {
    fault: 'ignores the cursor of a poll',
    breaks: ['events.poll-cursor', 'events.poll-past-end', 'events.poll-bad-cursor-400'],
    host: asking(POLL, (asked) => ({ ...asked, target: asked.target.replace(/(last|after)Sequence=[^&]*/, '') })),
  },
  {
    fault: 'answers every poll at once',
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
    fault: 'omits the ids of frames',
    breaks: ['events.stream-frames', 'events.stream-debug'],
    host: text(STREAM, (stream) => stream.replace(/^id:.*\n/gm, '')),
  },
  {
    fault: 'omits the terminal event from its streams',
    breaks: ['events.stream-ends', 'events.stream-live'],
    host: text(STREAM, (stream) =>
      stream.replace(/(?:^[a-z]+:.*\n)*^event: run\.(?:completed|failed|cancelled)\n(?:^[a-z]+:.*\n)*\n/gm, ''),
    ),
  },
  {
    fault: 'streams in mode debug by default',
    breaks: ['events.stream-updates-default'],
    host: asking(STREAM, (asked) =>
      /streamMode=/.test(asked.target) ? asked : { ...asked, target: `${asked.target}?streamMode=debug` },
    ),
  },
  {
    fault: 'streams every mode as debug',
    breaks: [
      'events.stream-values',
      'events.stream-messages',
      'events.stream-mode-400',
      'events.stream-values-resumes',
    ],
    host: query(STREAM, 'streamMode', 'debug'),
  },
  {
    fault: 'ignores Last-Event-ID',
    breaks: ['events.stream-resumes'],
    host: sendingHeader(STREAM, 'last-event-id', undefined),
  },
  {
    fault: 'ignores bufferMs',
    breaks: ['events.stream-batches', 'events.stream-buffer-400'],
    host: query(STREAM, 'bufferMs'),
  },
  {
    fault: 'sends no keep-alive comments',
    breaks: ['events.stream-keep-alive'],
    host: answering(STREAM, (answered) => ({ ...answered, body: Readable.from(withoutComments(answered.body)) })),
  },
  {
    fault: 'answers 400 for the events of an unknown run',
    breaks: ['events.stream-unknown-404'],
    host: status(BOTH_TRANSPORTS, 404, 400, 'validation_error'),
  },
];

async function* withoutComments(body: string | Readable): AsyncGenerator<string> {
  for await (const chunk of body) yield String(chunk).replace(/^:.*\n\n?/gm, '');
}
