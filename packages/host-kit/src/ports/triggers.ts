import type { Principal, Tenancy, TokenFacts } from '@svc/auth';
import type { WorkloadSchemeName } from '@svc/auth/workload';
import type { Major } from '@svc/versioning';
import type { Json, JsonObject } from '../json.ts';
import type { Lookup } from '../lookup.ts';
import type { SourcePlaceStore } from './source-places.ts';
import type { Transaction } from './transaction.ts';

/**
 * The state of a trigger. `active` starts runs. `paused` stores messages and starts none. `failed` and `dead-lettered`
 * are final: messages go to the dead letters.
 *
 * @see Interface: States and transitions, Durable subscription (trigger bridge)
 */
export type TriggerState = 'active' | 'paused' | 'failed' | 'dead-lettered';

/** A place in the document of a message: a JSON Pointer (RFC 6901), or a constant. */
export type MappedValue =
  | { readonly pointer: string /** Used when the place does not exist. */; readonly default?: Json }
  | { readonly constant: Json };

/** The mapping from the document of a message to a workflow and its inputs. It contains no code. */
export interface TriggerMapping {
  /** The workflow; or one of several, selected by the text at a place of the document. */
  readonly workflowId: string | { readonly pointer: string; readonly cases: Readonly<Record<string, string>> };
  /** The inputs of the run, by their names. */
  readonly inputs: Readonly<Record<string, MappedValue>>;
}

/** The senders whose signatures the host verifies. */
export type WebhookPreset = 'svc' | 'standard-webhooks' | 'github' | 'stripe' | 'slack' | 'shopify' | 'hmac';

/** The place and the form of a signature, for the preset `hmac`. */
export interface HmacSignature {
  /** The lower-case name of the header that has the signature. */
  readonly header: string;
  readonly algorithm: 'sha256' | 'sha512';
  readonly encoding: 'hex' | 'base64';
  /** The text before the signature in the header. Empty: none. */
  readonly prefix: string;
  /**
   * The lower-case name of a header with the time of signing in Unix seconds. The signed text is then this time, a dot and
   * the body. Absent: the body alone is signed.
   */
  readonly timestampHeader?: string;
}

/** The rules of a trigger of the source `webhook`. */
export interface WebhookSource {
  readonly preset: WebhookPreset;
  /** Present for `hmac` alone. */
  readonly signature?: HmacSignature;
  /** The types of messages that start a run. Absent: every type. */
  readonly types?: readonly string[];
  /** A JSON Pointer into the body to the key for deduplication. Absent: the key of the preset. */
  readonly dedupPointer?: string;
}

/**
 * The treatment of occurrences that no host fired in time, because all of them were stopped. `skip` starts none of them, `once`
 * starts the latest one, and `all` starts up to the latest 100.
 */
export type MissedPolicy = 'skip' | 'once' | 'all';

/** The rules of a trigger of the source `schedule`. */
export interface ScheduleSource {
  /** A cron expression of five fields: minute, hour, day of the month, month, day of the week. */
  readonly cron: string;
  /** The IANA time zone in which the expression is read, such as `Europe/Berlin`. */
  readonly timeZone: string;
  readonly missed: MissedPolicy;
  /** The most seconds by which an occurrence fires later. The delay follows from the trigger and the occurrence. 0: none. */
  readonly jitterSeconds: number;
}

/** An occurrence of a schedule. */
export interface Occurrence {
  /** The time that the expression names, in ms since the epoch. It identifies the occurrence. */
  readonly scheduledAt: number;
  /** The time from which it is due, in ms since the epoch, by the clock of the store: `scheduledAt` with the jitter. */
  readonly fireAt: number;
}

/** The rules of a trigger of the source `form`. */
export interface FormSource {
  /** The origins of pages that may submit, such as `https://www.example.com`, beside the origin of the host. */
  readonly origins: readonly string[];
}

/** The rules of a trigger of the source `queue`. */
export interface QueueSource {
  /** The name of a connection of the host. */
  readonly connection: string;
  /** The name of the queue at its broker. */
  readonly name: string;
  /** A JSON Pointer into the content of a message to the key for deduplication. Absent: the id that the broker gave it. */
  readonly dedupPointer?: string;
}

/** The rules of a trigger of the source `email`. */
export interface EmailSource {
  /** The authors whose messages start runs: addresses, or `@` and a domain for all its addresses. In lower case. */
  readonly senders: readonly string[];
  /** The recipients for which the relay may post: addresses, or `@` and a domain for all its addresses. In lower case. */
  readonly recipients: readonly string[];
}

/** The credential that a host sends to the URL of a stream. Its value is the sealed secret of the trigger. */
export interface StreamCredential {
  /** The lower-case name of the header. */
  readonly header: string;
  /** The text before the secret, such as `Bearer `. Empty: none. */
  readonly prefix: string;
}

/** The rules of a trigger of the source `stream`. */
export interface StreamSource {
  /** The URL as the egress guard has checked it. It is judged again at each connection. */
  readonly url: string;
  /** Server-Sent Events, or lines of JSON. */
  readonly format: 'sse' | 'ndjson';
  /** For `sse`: the types of events that start a run. Absent: every type. */
  readonly types?: readonly string[];
  /** A JSON Pointer into a message to the key for deduplication. Absent: the id of an event, or the cursor of a line. */
  readonly dedupPointer?: string;
  /** For `ndjson`: a JSON Pointer into a message to the cursor after it. Absent: the stream is read from its beginning each time. */
  readonly cursorPointer?: string;
  /** For `ndjson`: the query parameter in which the cursor is sent. Absent: the header `Last-Event-ID`. */
  readonly cursorParameter?: string;
  /** Absent: none. */
  readonly credential?: StreamCredential;
}

/** The rules of a trigger of the source `change`. */
export interface ChangeRules {
  /** The name of a table of the host. */
  readonly table: string;
  /** The rows that start runs: those after the registration (`now`), or all (`beginning`). */
  readonly from: 'now' | 'beginning';
}

/** The rules of the source of a trigger. */
export type TriggerRules =
  | { readonly source: 'webhook'; readonly webhook: WebhookSource }
  | {
      readonly source: 'schedule';
      readonly schedule: ScheduleSource;
      /** The next occurrence. Absent while the trigger is paused. */
      readonly next?: Occurrence;
    }
  | { readonly source: 'form'; readonly form: FormSource }
  | { readonly source: 'queue'; readonly queue: QueueSource }
  | { readonly source: 'email'; readonly email: EmailSource }
  | { readonly source: 'stream'; readonly stream: StreamSource }
  | { readonly source: 'change'; readonly change: ChangeRules };

/** The authority under which a trigger starts runs: that of its registrar at the registration. */
export interface Registrar
  extends Pick<Principal, 'id' | 'kind' | 'credentialId' | 'lane' | 'binding' | 'tenancy' | 'scopes' | 'subject'> {
  /** The principals by which the credential can be withdrawn: its own, and with a delegation that of the workload. */
  readonly principals: readonly string[];
  /** The issuer, the subject and the time of each token. They have no id of a token or a session: both end early. */
  readonly tokens: readonly Pick<TokenFacts, 'issuer' | 'subject' | 'issuedAt'>[];
  /** The identities of a workload, and with a delegation that of its delegator. Absent: the registrar is no workload. */
  readonly identities?: readonly RegistrarIdentity[];
}

/** An identity by which a workload registered a trigger. */
export interface RegistrarIdentity {
  /** The scheme that verified it. Absent: an issuer of delegations named it. */
  readonly scheme?: WorkloadSchemeName;
  /** The trust root. */
  readonly issuer: string;
  /** The subject, in the form of the scheme. */
  readonly subject: string;
  /** The principal to which it was bound. */
  readonly principal: string;
}

/** The retries of a message whose run could not be started because of a fault of the host. */
export interface TriggerRetryPolicy {
  readonly maxAttempts: number;
  readonly backoff: 'none' | 'fixed' | 'exponential';
}

/** A trigger subscription. */
export type Trigger = TriggerRecord & TriggerRules;

/** A trigger of one source. */
export type TriggerOf<Source extends TriggerRules['source']> = Trigger & { readonly source: Source };

/** The sources that hosts read by themselves, one host each. */
export type ReadSource = Extract<TriggerRules['source'], 'stream' | 'change'>;

/** The members of a trigger of any source. */
export interface TriggerRecord {
  readonly triggerId: string;
  readonly tenant: string;
  /** The workspace of its runs. Absent: the tenant. */
  readonly workspace?: string;
  readonly mode: 'live' | 'test';
  /** The major under which it was registered, which determines the form of its ids. */
  readonly major: Major;
  readonly state: TriggerState;
  /** The reason of the last transition. Absent: there was none. */
  readonly stateReason?: 'operator-paused' | 'retry-exhausted' | 'source-removed';
  /** The number of messages in a row whose attempts were exhausted. */
  readonly failures: number;
  readonly description?: string;
  readonly mapping: TriggerMapping;
  readonly retryPolicy: TriggerRetryPolicy;
  readonly registrar: Registrar;
  /**
   * The encrypted `TriggerSecrets`, bound to the id of the trigger. The sender of a webhook signs with it, the relay of an email shows
   * it, and the host signs the tokens of a form with it. The host sends it to the URL of a stream that has a credential. Other
   * triggers have one that nothing uses.
   */
  readonly sealedSecrets: Uint8Array;
  /** The salted digest of the current secret. */
  readonly secretFingerprint: string;
  /** In ms since the epoch. */
  readonly createdAt: number;
  /** In ms since the epoch. */
  readonly updatedAt: number;
}

/**
 * The outcome of a message: its run was started, it waits for an attempt, or it is a dead letter. @see Interface: Events
 */
export type MessageOutcome = 'delivered' | 'retrying' | 'dead-lettered';

/** An authentic message of a source. Its row also is the mark by which a repetition is recognised. */
export interface TriggerMessage {
  readonly triggerId: string;
  /** Ordered by the clock of the store: pages and `trimDeadLetters` go by it. */
  readonly deliveryId: string;
  /** A digest of the key for deduplication. */
  readonly dedupKey: string;
  readonly outcome: MessageOutcome;
  /** The number of attempts to start its run. */
  readonly attempts: number;
  /** In ms since the epoch, by the clock of the store. */
  readonly receivedAt: number;
  /** The time of the last attempt or change, in ms since the epoch, by the clock of the store. */
  readonly updatedAt: number;
  /** From then on the message is unknown, in ms since the epoch, by the clock of the store. */
  readonly expiresAt: number;
  /** Present while it waits: the earliest time of the next attempt, in ms since the epoch. */
  readonly nextAttemptAt?: number;
  /** Present when it was delivered. */
  readonly runId?: string;
  /** The reason why it started no run. Without content of the message. */
  readonly problem?: string;
  /**
   * The document that the mapping reads. Absent when it was delivered, in a page of messages, and of a message whose content could
   * not be read, which starts no run.
   */
  readonly document?: JsonObject;
}

/** A page of messages, newest first. */
export interface MessagePage {
  /** The id before which the page begins. Undefined: the newest message. */
  readonly before: string | undefined;
  readonly limit: number;
  /** Messages of this outcome alone. Undefined: of every outcome. */
  readonly outcome?: Exclude<MessageOutcome, 'delivered'> | undefined;
  /** Messages that expire after this time alone, in ms since the epoch. */
  readonly now: number;
}

/** Trigger subscriptions and their messages. Callers reach a trigger only through their tenancy. */
export interface TriggerStore extends SourcePlaceStore {
  insert(trigger: Trigger, transaction: Transaction): Promise<void>;
  /** Counts the triggers of a tenant and mode. Until the transaction ends, no other one that counts the same goes on. */
  count(tenancy: Pick<Tenancy, 'tenant' | 'mode'>, transaction: Transaction): Promise<number>;
  /** Finds a trigger of the caller's tenant and mode, in a workspace that the caller reaches. */
  find(tenancy: Tenancy, triggerId: string): Promise<Lookup<Trigger>>;
  /** Returns up to `limit` triggers that `find` would find, by ascending id, after the id `after`. */
  list(tenancy: Tenancy, page: { readonly after: string; readonly limit: number }): Promise<readonly Trigger[]>;
  /** Returns a trigger of any tenant. For the host's receiver of messages; never on behalf of a caller. */
  read(triggerId: string): Promise<Trigger | undefined>;
  /**
   * Reads a trigger in a transaction that stores a message of it. Until the transaction ends, the trigger is neither
   * changed nor removed; other messages of it go on.
   */
  hold(triggerId: string, transaction: Transaction): Promise<Trigger | undefined>;
  /**
   * Replaces a trigger by the result of `change`, which gets it as it is in this transaction. Undefined as its result
   * leaves the trigger as it is.
   *
   * @returns the trigger after the change; undefined when it does not exist or stayed as it was
   */
  change(
    triggerId: string,
    change: (trigger: Trigger) => Trigger | undefined,
    transaction: Transaction,
  ): Promise<Trigger | undefined>;
  /** Removes a trigger that `find` would find. Its messages are no longer found, and `sweep` deletes them. */
  remove(tenancy: Tenancy, triggerId: string, transaction: Transaction): Promise<Lookup<Trigger>>;
  /** Returns up to `limit` triggers of all tenants, by ascending id. For the host's own tasks. */
  page(page: { readonly after: string; readonly limit: number }): Promise<readonly Trigger[]>;

  /**
   * Stores a message, unless the trigger has one of the same `dedupKey` that has not expired at `message.receivedAt`. Of
   * concurrent calls for one key, exactly one stores its message.
   *
   * @returns the message that was there before; undefined when this one was stored
   */
  take(message: TriggerMessage, transaction: Transaction): Promise<TriggerMessage | undefined>;
  /**
   * Replaces a stored message. It keeps its document until it is delivered, whether `after` has it or not. Returns false, and
   * writes nothing, when its outcome or its attempts are no longer those of `before`: another host was faster.
   */
  settle(before: TriggerMessage, after: TriggerMessage, transaction: Transaction): Promise<boolean>;
  /** Returns messages of a trigger, without their documents: a page of large ones would not fit into memory. */
  messages(triggerId: string, page: MessagePage): Promise<readonly TriggerMessage[]>;
  /** Counts the messages of a trigger that wait, up to `limit`. */
  countWaiting(triggerId: string, limit: number): Promise<number>;
  /**
   * Returns up to `limit` messages of triggers that are not paused whose next attempt is due at `now`, the earliest first. One that
   * would wait for more than `LONGEST_MESSAGE_WAIT_MS` was planned by a clock that was ahead. It is due, too.
   */
  due(now: number, limit: number): Promise<readonly TriggerMessage[]>;
  /**
   * Returns up to `limit` active triggers of the source `schedule` of all tenants whose `next.fireAt` is at most `now`, the
   * earliest first. For the host's own task.
   */
  dueSchedules(now: number, limit: number): Promise<readonly Trigger[]>;
  /**
   * Returns up to `limit` active triggers of the source `queue` of all tenants, by ascending id, after the id `after`. For the host's
   * own task.
   */
  activeQueues(page: { readonly after: string; readonly limit: number }): Promise<readonly Trigger[]>;
  /**
   * Returns up to `limit` active triggers of a source that hosts read, of all tenants, by ascending id, after the id `after`. For the
   * host's own task.
   */
  activeReadings(page: {
    readonly source: ReadSource;
    readonly after: string;
    readonly limit: number;
  }): Promise<readonly Trigger[]>;
  /** Returns the message of a trigger with a key, without its document; undefined when there is none that expires after `now`. */
  known(triggerId: string, dedupKey: string, now: number): Promise<TriggerMessage | undefined>;
  /**
   * Deletes the oldest dead letters of a trigger beyond the newest `most`, up to 500. They then are unknown: a repetition of such
   * a message is a new one.
   *
   * @returns their number
   */
  trimDeadLetters(triggerId: string, most: number, transaction: Transaction): Promise<number>;
  /** Counts the messages of all triggers that wait, and the dead letters, each up to `limit`. For the host's own gauges. */
  backlog(limit: number): Promise<TriggerBacklog>;
  /** Deletes up to `limit` messages that expired by `now` or whose trigger was removed. Returns their number. */
  sweep(now: number, limit: number): Promise<number>;
}

/** The numbers of messages of all triggers that started no run. */
export interface TriggerBacklog {
  /** Messages that wait for an attempt or for a resume. */
  readonly waiting: number;
  readonly deadLetters: number;
}

/** Longer than any message waits for its next attempt, in ms. */
export const LONGEST_MESSAGE_WAIT_MS = 120_000;

/** The secrets of a trigger, as they are sealed. */
export interface TriggerSecrets {
  /** The secret that signs new messages. */
  readonly current: string;
  /** The secret that it replaced, which is accepted until a time in ms since the epoch. */
  readonly previous?: { readonly secret: string; readonly expiresAt: number };
}

/**
 * Returns whether a trigger belongs to a workspace that the caller reaches.
 *
 * @example
 * if (!reachesTrigger(tenancy, trigger)) return { kind: 'other-workspace' }; // in `find` of a store of your own
 */
export function reachesTrigger({ workspaces }: Pick<Tenancy, 'workspaces'>, { workspace }: Trigger): boolean {
  return workspaces === 'all' || (workspace !== undefined && workspaces.includes(workspace));
}
