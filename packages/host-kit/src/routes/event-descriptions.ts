import { z } from 'zod';
import { type Description, empty, eventStream, json } from '../http/description.ts';
import { polledPage } from '../wire/poll.ts';
import { streamed } from '../wire/stream.ts';

const ERRORS = ['not_found', 'run_forbidden', 'id_tenant_mismatch'] as const;
const HEADERS = ['Cache-Control', 'Vary'] as const;

const stream = eventStream('The events of the run, as they happen.', streamed, { headers: HEADERS });
/**
 * The page of events in JSON, for a caller that does not accept an event stream. It has a range as its media type,
 * because generators of clients take an operation that also answers in `application/json` for no stream.
 */
const page = json('', polledPage, { mediaType: 'application/*' });
const over = empty('The run has ended, and the caller has received its last event. An `EventSource` stops at this.', {
  headers: HEADERS,
});

const STREAM_OR_PAGE = `${stream.description} A caller that does not accept an event stream gets a page in JSON instead.`;

/** Describes the event stream in the API description. */
export const STREAM: Description = {
  tag: 'Events',
  summary: 'Stream the events of a run',
  description:
    'Sends the recorded events, then new ones until the run has ended. The `id` of a message is the sequence of its ' +
    'event, and `event` is its type; with several modes `event` is the mode. A silent stream sends a comment at ' +
    'least every 30 seconds. The host closes the stream of a reader that stops reading or whose credential is no ' +
    'longer valid. Reconnect with `Last-Event-ID` to continue: the answer is 204 when the run has ended and nothing ' +
    'follows.',
  query: {
    streamMode: z
      .string()
      .regex(/^(?:values|(?:updates|messages|debug)(?:,(?:updates|messages|debug))*)$/)
      .default('updates')
      .describe(
        '`values` (the whole run after each update), or a comma-separated list of `updates`, `messages` (chunks of ' +
          'output) and `debug` (all events).',
      ),
    bufferMs: z
      .int()
      .min(0)
      .max(5000)
      .default(0)
      .describe('The time in ms for which events are collected, to be sent as one `batch`.'),
  },
  headers: {
    'Last-Event-ID': z.int().min(0).optional().describe('The sequence of the last event that the caller received.'),
  },
  answers: {
    1: {
      200: { ...stream, description: STREAM_OR_PAGE, content: { ...stream.content, ...page.content } },
      204: over,
    },
    2: {
      200: eventStream(stream.description, streamed, { headers: ['Cache-Control'] }),
      204: { ...over, headers: ['Cache-Control'] },
    },
  },
  errors: [...ERRORS, 'unsupported_stream_mode'],
};

const timeout = z.int().min(1).max(60).default(30).describe('The longest wait for an event, in seconds.');
const sequence = z.int().min(0).optional();

/** Describes the poll in the API description. */
export const POLL: Description = {
  tag: 'Events',
  summary: 'Wait for events of a run',
  description:
    'Returns the events after a sequence, in order. If there are none yet, the response waits for the first one, ' +
    'the end of the run or the timeout. A response holds at most 1000 events or 1 MiB of them: poll again from the ' +
    'last one until the response says that there is no more.',
  query: {
    1: {
      lastSequence: z
        .int()
        .min(-1)
        .optional()
        .describe('The sequence of the last event that the caller received. Default: from the start.'),
      since: z.int().min(-1).optional().describe('The name of `lastSequence` in older clients.'),
      timeout,
    },
    2: {
      afterSequence: sequence.describe(
        'The sequence of the last event that the caller received. Default: from the start.',
      ),
      timeout,
    },
  },
  answers: { 200: json('The events after the sequence.', polledPage, { headers: ['Cache-Control'] }) },
  errors: ERRORS,
};
