import type { Clock, Log } from '@svc/host-kit';
import { HANDLER } from './turn-service.ts';

/** A cluster of Restate, by its ingress and its admin API. */
export interface ClusterOptions {
  readonly ingressUrl: string;
  readonly adminUrl: string;
  /** The URL under which Restate calls this process. */
  readonly handlerUrl: string;
  /** The name of the service of this process. */
  readonly service: string;
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
  readonly log: Log;
}

/** A turn as Restate stores it: names and numbers. */
export interface Turn {
  /** The id, which no other turn has. */
  readonly turn: string;
  readonly run: string;
  readonly workflow: string;
  readonly epoch: number;
}

/** The calls of this process to Restate. */
export class Cluster {
  readonly #options: ClusterOptions;
  #deployment = '';
  #isUnreachable = false;
  readonly #closing = new AbortController();
  #registering: Promise<void> | undefined;

  constructor(options: ClusterOptions) {
    this.#options = options;
  }

  /**
   * Tells Restate the handler of this process.
   *
   * @throws {Error} when the ingress or the admin API does not answer, and when Restate cannot call the handler
   */
  register(): Promise<void> {
    this.#registering ??= this.#register().finally(() => {
      this.#registering = undefined;
    });
    return this.#registering;
  }

  async #register(): Promise<void> {
    const { ingressUrl, adminUrl, handlerUrl } = this.#options;
    const health = await this.#answer(`${ingressUrl}/restate/health`).catch(said);
    if (health instanceof Error || health.status !== 200) {
      throw new Error(
        `restateEngine: the ingress of Restate does not answer at ${ingressUrl}${about(health)}. ${START}`,
      );
    }
    const sent = { method: 'POST', headers: JSON_HEADERS, body: JSON.stringify({ uri: handlerUrl, force: true }) };
    const answer = await this.#answer(`${adminUrl}/deployments`, sent).catch(said);
    if (answer instanceof Error) {
      throw new Error(
        `restateEngine: the admin API of Restate does not answer at ${adminUrl}${about(answer)}. ${START}`,
      );
    }
    const { id } = memberOf(answer.body);
    if (typeof id !== 'string') {
      throw new Error(
        `restateEngine: Restate did not accept the handler at ${handlerUrl}${about(answer)}. Set handlerUrl to the address at which Restate reaches this process.`,
      );
    }
    this.#deployment = id;
  }

  /** Removes the handler of this process. Restate may not answer: its next process at this address replaces it. */
  async remove(): Promise<void> {
    const { adminUrl, log } = this.#options;
    this.#closing.abort();
    if (this.#deployment === '') return;
    const url = `${adminUrl}/deployments/${this.#deployment}?force=true`;
    const answer = await this.#answer(url, { method: 'DELETE' }).catch(said);
    if (answer instanceof Error || answer.status >= 400) {
      log({ level: 'warn', event: 'restate.close-failed', error: about(answer).trim() });
    }
  }

  /**
   * Invokes a turn, and waits for the end of its invocation. A call that breaks is repeated until `signal` aborts. The id of the
   * turn makes that one invocation.
   *
   * @returns whether the handler ended the invocation. False: Restate stopped it, or `signal` has aborted
   */
  async invoke(turn: Turn, signal: AbortSignal): Promise<boolean> {
    const { ingressUrl, service } = this.#options;
    const headers = { ...JSON_HEADERS, 'idempotency-key': turn.turn };
    const sent = { method: 'POST', headers, body: JSON.stringify(turn) };
    for (let failed = 0; !signal.aborted; ) {
      const answer = await this.#answer(`${ingressUrl}/${service}/${HANDLER}`, sent, signal, ATTACH_MS).catch(said);
      if (signal.aborted) break;
      if (!(answer instanceof Error) && (answer.status === 200 || answer.isOfInvocation)) {
        this.#isUnreachable = false;
        return answer.status === 200;
      }
      if (answer instanceof DeadlinePassed) continue;
      this.#warn(answer);
      // Restate has lost its services, or an operator has removed the deployment.
      if (!(answer instanceof Error) && answer.status === 404) await this.register().catch(() => {});
      await this.#rest(Math.min(FIRST_REST_MS * 2 ** failed, LONGEST_REST_MS), signal);
      failed = Math.min(failed + 1, 16);
    }
    return false;
  }

  /**
   * Kills the invocations of earlier epochs of a run that have not ended, in the background. Restate has no index for them, and a turn
   * does not wait for it: without the kill, such an invocation ends when its process comes back, or after a day.
   */
  killEarlier(runId: string, epoch: number): void {
    const run = runId.replaceAll("'", "''");
    const query = `SELECT id FROM sys_invocation WHERE status != 'completed' AND starts_with(idempotency_key, '${run}:') AND NOT starts_with(idempotency_key, '${run}:${epoch}:') LIMIT ${PAGE}`;
    this.#kill(query).catch((error: unknown) => {
      if (this.#closing.signal.aborted) return;
      this.#options.log({ level: 'warn', event: 'restate.kill-failed', error: said(error).message });
    });
  }

  async #kill(query: string): Promise<void> {
    const { adminUrl } = this.#options;
    const headers = { ...JSON_HEADERS, accept: 'application/json' };
    const asked = { method: 'POST', headers, body: JSON.stringify({ query }) };
    const { rows } = memberOf((await this.#answer(`${adminUrl}/query`, asked, this.#closing.signal, QUERY_MS)).body);
    for (const row of Array.isArray(rows) ? rows : []) {
      const url = `${adminUrl}/invocations/${memberOf(row).id}/kill`;
      await this.#answer(url, { method: 'PATCH' }, this.#closing.signal);
    }
  }

  /** Tells the begin of an outage. */
  #warn(answer: Answer | Error): void {
    if (this.#isUnreachable) return;
    this.#isUnreachable = true;
    const { ingressUrl, log } = this.#options;
    log({ level: 'warn', event: 'restate.unreachable', error: `${ingressUrl} does not take turns${about(answer)}` });
  }

  #rest(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const cancel = this.#options.clock.after(ms, end);
      signal.addEventListener('abort', end);
    });
  }

  /** Calls Restate. Rejects with {@link DeadlinePassed} when it does not answer in time. */
  async #answer(url: string, init: RequestInit = {}, signal?: AbortSignal, deadlineMs = ANSWER_MS): Promise<Answer> {
    const { fetch, clock } = this.#options;
    const deadline = new AbortController();
    const cancel = clock.after(deadlineMs, () =>
      deadline.abort(new DeadlinePassed(`no answer within ${deadlineMs} ms`)),
    );
    const either = signal === undefined ? deadline.signal : AbortSignal.any([deadline.signal, signal]);
    try {
      const response = await fetch(url, { ...init, redirect: 'error', signal: either });
      const body = parsed(await response.text());
      return { status: response.status, isOfInvocation: response.headers.get(SOURCE) === 'invocation', body };
    } finally {
      cancel();
    }
  }
}

interface Answer {
  readonly status: number;
  /** Whether the answer is the failure of an invocation, and no failure to take it. */
  readonly isOfInvocation: boolean;
  readonly body: unknown;
}

class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
}

const SOURCE = 'x-restate-error-source';
const JSON_HEADERS = { 'content-type': 'application/json' };
const START = 'Start Restate, or correct the URL.';
const ANSWER_MS = 10_000;
/** After it the same invocation is asked for again, so that no call waits on a connection that is dead. */
const ATTACH_MS = 60_000;
const FIRST_REST_MS = 100;
const LONGEST_REST_MS = 5000;
/** Restate reads all invocations that it keeps. */
const QUERY_MS = 60_000;
/** Far more than a run has that were not ended. */
const PAGE = 100;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function memberOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function said(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(typeof error);
  // `fetch failed` has the reason as its cause.
  return error.cause instanceof Error ? error.cause : error;
}

function about(answer: Answer | Error): string {
  if (answer instanceof Error) return ` (${answer.message || answer.name})`;
  const { message } = memberOf(answer.body);
  return ` (status ${answer.status}${typeof message === 'string' ? `: ${message}` : ''})`;
}
