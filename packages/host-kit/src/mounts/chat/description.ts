import { z } from 'zod';
import { empty, eventStream, json, type MountDescription, type RouteCredential } from '../../http/description.ts';
import { jsonValue } from '../../json-schema.ts';

/** The schema of a message. */
export const chatRequest: z.ZodType<{ message: string; conversationId?: string | undefined }> = z.strictObject({
  message: z.string().min(1).max(32_768),
  conversationId: z
    .string()
    .regex(/^[A-Za-z0-9._~-]{1,128}$/, 'must be the conversationId of an earlier response')
    .optional(),
});

const turn = z
  .object({
    conversationId: z.string().describe('Sent with the next message of the conversation.'),
    runId: z.string(),
    status: z.string().describe('The status of the run.'),
    reply: jsonValue.optional().describe('Present when the run has completed.'),
    question: z.looseObject({}).optional().describe('Present while the run waits for an answer.'),
    error: z.object({ code: z.string(), message: z.string() }).optional().describe('Present when the run has failed.'),
  })
  .meta({ id: 'ChatTurn' });

const answered = json('The turn.', turn, { headers: ['Cache-Control'] });
const streamed = eventStream('', z.looseObject({}));
const turnOrStream = { ...answered, content: { ...answered.content, ...streamed.content } };

const SAY = {
  summary: 'Send a message',
  description:
    'Starts one run with the message, and waits for its reply. The response to a caller that prefers `text/event-stream` is a stream: `turn`, `delta`, `question` and `reply`.',
  body: chatRequest,
  example: { message: 'hello' },
  answers: { 200: turnOrStream },
} as const;

const READ = {
  summary: 'Read a turn',
  description: 'Reads a turn of a conversation, or resumes its stream after `Last-Event-ID`.',
  headers: { 'Last-Event-ID': z.string().optional().describe('The id of the last received event.') },
  answers: { 200: turnOrStream, 204: empty('The run has ended, and the stream has no further event.') },
  errors: ['not_found'],
} as const;

/** The entries of the chat in the API description of the mounts. */
export const CHAT = {
  say: { operationId: 'sendChatMessage', ...SAY },
  read: { operationId: 'readChatTurn', ...READ },
} satisfies Record<string, MountDescription>;

const SESSION: RouteCredential = {
  name: 'publicChatSession',
  description: 'The `session` of a visitor, from `beginPublicChatSession`.',
};

/** The entries of the public chat. */
export const PUBLIC_CHAT = {
  begin: {
    operationId: 'beginPublicChatSession',
    summary: 'Begin a session',
    description: 'Begins the session of a visitor. The other requests carry it as `Authorization: Bearer <session>`.',
    answers: {
      201: json(
        'The session.',
        z.object({ session: z.string(), expiresAt: z.iso.datetime() }).meta({ id: 'Session' }),
        { headers: ['Cache-Control'] },
      ),
    },
  },
  say: { operationId: 'sendPublicChatMessage', ...SAY, credential: SESSION, errors: ['forbidden'] },
  read: { operationId: 'readPublicChatTurn', ...READ, credential: SESSION },
} satisfies Record<string, MountDescription>;
