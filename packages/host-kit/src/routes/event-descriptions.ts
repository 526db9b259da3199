import { z } from 'zod';
import { type Description, eventStream, json } from '../http/description.ts';
import { polledPage } from '../wire/poll.ts';
import { streamed } from '../wire/stream.ts';

const ERRORS = ['not_found', 'run_forbidden', 'id_tenant_mismatch'] as const;
const HEADERS = ['Cache-Control', 'Vary'] as const;

const stream = eventStream('The events of the run, as they happen.', streamed, { headers: HEADERS });
const page = json('A page of them, for a caller who takes no event stream.', polledPage, { headers: HEADERS });

/** What the API description tells of the stream. */
export const STREAM: Description = {
  tag: 'Events',
  summary: 'Stream the events of a run',
  description:
    'What there is of the log, then what is appended, until the run has ended. Each message has the sequence as its `id` and the event ' +
    'type as its `event`; in a mix of modes `event` is the mode that shows it. A silent stream sends a comment at least every 30 ' +
    'seconds. A reader who stops reading, or whose credential no longer holds, is cut off, and goes on with `Last-Event-ID`.',
  query: {
    streamMode: z
      .string()
      .regex(/^(?:values|(?:updates|messages|debug)(?:,(?:updates|messages|debug))*)$/)
      .default('updates')
      .describe(
        '`values` (the run anew after each update), or a list of `updates`, `messages` (chunks of output) and `debug` (everything), ' +
          'joined by commas.',
      ),
    bufferMs: z
      .int()
      .min(0)
      .max(5000)
      .default(0)
      .describe('For how long events may be held back, to come as one `batch`.'),
  },
  headers: {
    'Last-Event-ID': z.int().min(0).optional().describe('The sequence of the last event that the caller has.'),
  },
  answers: {
    1: { 200: { ...stream, content: { ...stream.content, ...page.content } } },
    2: { 200: eventStream(stream.description, streamed, { headers: ['Cache-Control'] }) },
  },
  errors: [...ERRORS, 'unsupported_stream_mode'],
};

const timeout = z.int().min(1).max(60).default(30).describe('For how many seconds to wait for an event.');
const sequence = z.int().min(0).optional();

/** What it tells of the poll. */
export const POLL: Description = {
  tag: 'Events',
  summary: 'Wait for events of a run',
  description:
    'The events after a sequence, in order. When there are none yet, the answer waits until there is one or the run has ended. One ' +
    'answer holds 1000 events or 1 MiB of them at the most: go on from the last one until the answer says that there is no more.',
  query: {
    1: {
      lastSequence: z
        .int()
        .min(-1)
        .optional()
        .describe('The last event that the caller has. Without it: from the start.'),
      since: z.int().min(-1).optional().describe('What older clients call `lastSequence`.'),
      timeout,
    },
    2: { afterSequence: sequence.describe('The last event that the caller has. Without it: from the start.'), timeout },
  },
  answers: { 200: json('What there is.', polledPage, { headers: ['Cache-Control'] }) },
  errors: ERRORS,
};
