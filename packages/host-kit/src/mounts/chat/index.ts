import { publicMountRoute } from '../../http/public-route.ts';
import { mountRoute } from '../../http/route.ts';
import type { PublicRouteLimits } from '../../http/verification.ts';
import type { Json, JsonObject } from '../../json.ts';
import type { MountDefinition, MountServices } from '../mount.ts';
import { MEMORY_DEFAULTS, type MemoryLimits } from './conversation.ts';
import { CHAT, PUBLIC_CHAT } from './description.ts';
import { beginSession, type PublicSurface, sessionIn } from './session.ts';
import { type Chat, read, say } from './turn.ts';

export type { HistoryEntry, MemoryLimits } from './conversation.ts';

/** The options of {@link chatMount}. */
export interface ChatMountOptions {
  /**
   * The id of the workflow that answers a message. Its inputs are `{ message, conversationId, history }`: `history` has
   * the earlier turns, oldest first, each entry `{ role: 'user' | 'assistant', content }`.
   */
  readonly workflowId: string;
  /** Picks the reply from the outputs of the run; undefined sends none. Default: the member `reply` of the outputs. */
  readonly reply?: (outputs: JsonObject) => Json | undefined;
  /**
   * The longest time that a response waits for its run to end, in ms. After it the response has the status of the run
   * and no reply. Default 30 000.
   */
  readonly waitMs?: number;
  /** The bound of `history`. Each missing member takes its default: 20 turns and 32 768 bytes. */
  readonly memory?: Partial<MemoryLimits>;
}

/**
 * Serves conversations at `/host/<org>/chat`. A conversation belongs to the principal that began it.
 *
 * - `POST /chat` with `{ message, conversationId? }` starts one run. The response is
 *   `{ conversationId, runId, status, reply?, question?, error? }`. With `Idempotency-Key` a repeated message starts no
 *   second run. With `Accept: text/event-stream` the response is a stream: `turn`, then `delta` for each output chunk,
 *   `question` for each question, and `reply` at the end.
 * - `GET /chat/{runId}` reads a turn, or resumes its stream after `Last-Event-ID`.
 *
 * @example
 * const host = createHost({ ...options, mounts: [chatMount({ workflowId: 'assistant' })] });
 * @see Interface: Endpoints, host-specific mounts
 */
export function chatMount(options: ChatMountOptions): MountDefinition {
  return (services) => {
    const chat = chatOf(services, options, PATH);
    return {
      name: 'chat',
      path: PATH,
      routes: [
        mountRoute({
          method: 'POST',
          path: PATH,
          scope: 'runs:create',
          takesBody: true,
          takesKey: true,
          describes: CHAT.say,
          serve: (call) => say(chat, call),
        }),
        mountRoute({
          method: 'GET',
          path: `${PATH}/{runId}`,
          scope: 'runs:read',
          describes: CHAT.read,
          serve: (call) => read(chat, call),
        }),
      ],
    };
  };
}

/** The options of {@link publicChatMount}. */
export interface PublicChatMountOptions extends ChatMountOptions {
  /** The tenant that the runs of the visitors belong to. */
  readonly tenant: string;
  /** The workspace that they belong to. */
  readonly workspace: string;
  /** The mode of the runs. Default `live`. */
  readonly mode?: 'live' | 'test';
  /** The issuer of the visitors' Subjects, a URI or URN. Default: the `baseUrl` of the host, else `urn:svc:anonymous`. */
  readonly issuer?: string;
  /** The life of a session, in seconds, from 1 to 86 400. Default 3600. */
  readonly sessionSeconds?: number;
  /** The limits of each route. Each missing member takes its default: 65 536 bytes, 10 s, 60 requests in 60 s. */
  readonly limits?: Partial<PublicRouteLimits>;
}

/**
 * Serves conversations to visitors without a credential at `/host/<org>/public-chat`. Each session has an anonymous
 * principal of its own, which the host mints. It can start runs of the one workflow and read those of its own session,
 * and nothing else.
 *
 * - `POST /public-chat/sessions` begins a session: `{ session, expiresAt }`. The other requests carry it as
 *   `Authorization: Bearer <session>`.
 * - `POST /public-chat` and `GET /public-chat/{runId}` are those of {@link chatMount}.
 *
 * @throws {TypeError} from `createHost`, when `sessionSeconds` is out of range
 * @example
 * const mounts = [publicChatMount({ workflowId: 'assistant', tenant: 'acme', workspace: 'acme-prod' })];
 * @see Interface: Run owner (identity triple), Anonymous actor rules
 */
export function publicChatMount(options: PublicChatMountOptions): MountDefinition {
  return (services) => {
    const chat = chatOf(services, options, PUBLIC_PATH);
    const surface = surfaceOf(services, options);
    const common = { limits: options.limits ?? {}, grants: ['runs:create', 'runs:read'] };
    const bySession = {
      ...common,
      verify: ({ headers }: { readonly headers: Headers }) => ({
        principal: sessionIn(services, surface, headers),
        value: undefined,
      }),
    };
    return {
      name: 'public-chat',
      path: PUBLIC_PATH,
      families: { anonymousActor: {} },
      routes: [
        publicMountRoute({
          method: 'POST',
          path: `${PUBLIC_PATH}/sessions`,
          limits: common.limits,
          describes: PUBLIC_CHAT.begin,
          verify: () => {
            const session = beginSession(services, surface);
            return { principal: session.principal, value: session };
          },
          serve: async (_, { token, expiresAt }) => ({
            status: 201,
            headers: { 'cache-control': 'private, no-store' },
            body: { session: token, expiresAt: new Date(expiresAt).toISOString() },
          }),
        }),
        publicMountRoute({
          ...bySession,
          method: 'POST',
          path: PUBLIC_PATH,
          takesBody: true,
          takesKey: true,
          describes: PUBLIC_CHAT.say,
          serve: (call) => say(chat, call),
        }),
        publicMountRoute({
          ...bySession,
          method: 'GET',
          path: `${PUBLIC_PATH}/{runId}`,
          describes: PUBLIC_CHAT.read,
          serve: (call) => read(chat, call),
        }),
      ],
    };
  };
}

const PATH = '/chat';
const PUBLIC_PATH = '/public-chat';
const WAIT_MS = 30_000;
const LONGEST_SESSION_SECONDS = 86_400;

function chatOf(services: MountServices, options: ChatMountOptions, path: string): Chat {
  const { workflowId, reply = (outputs) => outputs.reply, waitMs = WAIT_MS, memory } = options;
  return { services, path, workflowId, reply, waitMs, memory: { ...MEMORY_DEFAULTS, ...memory } };
}

function surfaceOf({ baseUrl }: MountServices, options: PublicChatMountOptions): PublicSurface {
  const { tenant, workspace, mode = 'live', issuer = baseUrl ?? 'urn:svc:anonymous', sessionSeconds = 3600 } = options;
  if (!(sessionSeconds >= 1 && sessionSeconds <= LONGEST_SESSION_SECONDS))
    throw new TypeError(`sessionSeconds: must be from 1 to ${LONGEST_SESSION_SECONDS}. Leave it out for 3600.`);
  return {
    path: PUBLIC_PATH,
    tenancy: { tenant, workspaces: [workspace], mode },
    issuer,
    sessionMs: sessionSeconds * 1000,
  };
}
