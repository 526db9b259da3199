import { type AuthError, authenticator, type OnOutcome, type RefusalLimit } from '@svc/auth';
import type { Major, Served } from '@svc/versioning';
import { HostError } from '../errors.ts';
import type { PathCredential } from '../http/access.ts';
import { json } from '../http/description.ts';
import { type AuthorizedCall, type Reply, type Route, route, routeWithBody } from '../http/route.ts';
import { decodedSegment } from '../http/segment.ts';
import { type InterruptAddress, pendingInterrupt, type Resolved, resolveInterrupt } from '../interrupts/resolve.ts';
import type { InterruptTokens, TokenClaims } from '../interrupts/token.ts';
import { tokenLane } from '../interrupts/token-lane.ts';
import { Unanswerable, type UnanswerableReason } from '../interrupts/unanswerable.ts';
import type { Json } from '../json.ts';
import type { Save } from '../ports/idempotency.ts';
import type { RunServices } from '../runs/change-run.ts';
import { runForChange } from '../runs/find-run.ts';
import {
  interruptBody,
  question,
  resolvedBody,
  resolvedInterrupt,
  resolveExample,
  resolveRequest,
} from '../wire/interrupt.ts';
import { runIdIn } from './run-address.ts';

export interface InterruptRoutesOptions extends RunServices {
  readonly served: Pick<Served, 'overlap'>;
  readonly tokens: InterruptTokens;
  /** Limits refused tokens by client address. Undefined: no limit. */
  readonly refusals: RefusalLimit | undefined;
  /** Called with each decision about a token. */
  readonly onOutcome: OnOutcome;
}

/** Defines the routes that answer questions of runs, for callers with a credential and for bearers of a token. */
export function interruptRoutes(options: InterruptRoutesOptions): Route[] {
  const { tokens, refusals, onOutcome } = options;
  const access: PathCredential = {
    authenticator: authenticator({
      lanes: [tokenLane(tokens)],
      onOutcome,
      ...(refusals !== undefined && { refusals }),
    }),
    refused: TOKEN_REFUSED,
  };
  return [resolveRoute(options), inspectTokenRoute(options, access), resolveTokenRoute(options, access)];
}

function resolveRoute(options: InterruptRoutesOptions): Route {
  return routeWithBody({
    operationId: 'resolveInterrupt',
    scope: 'approvals:respond',
    schema: resolveRequest,
    describes: {
      tag: 'Interrupts',
      summary: 'Answer the question of a node',
      description: 'The run continues with the answer. Each question is answered once.',
      example: resolveExample,
      answers: { 200: RESOLVED },
      errors: {
        1: ['not_found', 'run_forbidden', 'interrupt_not_found', 'interrupt_already_resolved', 'interrupt_cancelled'],
        2: ['not_found', 'run_forbidden', 'id_tenant_mismatch', 'interrupt_already_resolved'],
      },
    },
    serve: (call, { resumeValue }, save: Save<Resolved>) => {
      const address = { runId: runIdIn(options.served, call), nodeId: nodeIn(call) };
      return resolve(options, call, address, resumeValue, save);
    },
    reply: resolvedReply,
  });
}

function inspectTokenRoute(options: InterruptRoutesOptions, access: PathCredential): Route {
  const { store } = options;
  return route({
    operationId: 'inspectInterruptToken',
    access,
    describes: {
      tag: 'Interrupts',
      summary: 'Read a question by its token',
      description: 'The token in the path is the credential. It is minted under `/host/<org>/interrupts`.',
      answers: { 200: json('The question.', question, { headers: ['Cache-Control'] }) },
      errors: TOKEN_ERRORS,
    },
    async serve(call) {
      const { runId, nodeId, interruptId } = claimsIn(options, call);
      const interrupt = await answering(call.major, () =>
        store.transaction(async (transaction) => {
          const run = await runForChange(store.runs, call.principal.tenancy, runId)(transaction);
          return pendingInterrupt(options, { run, transaction }, { runId, nodeId, interruptId });
        }),
      );
      return {
        status: 200,
        headers: { 'cache-control': 'private, no-store' },
        body: interruptBody(call.major, interrupt),
      };
    },
  });
}

function resolveTokenRoute(options: InterruptRoutesOptions, access: PathCredential): Route {
  return routeWithBody({
    operationId: 'resolveInterruptToken',
    access,
    schema: resolveRequest,
    describes: {
      tag: 'Interrupts',
      summary: 'Answer a question by its token',
      description: 'The token in the path is the credential. The run continues with the answer.',
      example: resolveExample,
      answers: { 200: RESOLVED },
      errors: TOKEN_ERRORS,
    },
    async serve(call, { resumeValue }, save: Save<Resolved>) {
      const { intent, ...address } = claimsIn(options, call);
      if (intent !== 'resolve') {
        const message = 'The token permits reading the question, not answering it. Ask for a token that permits both.';
        throw new HostError('forbidden', message, { details: undefined });
      }
      return await resolve(options, call, address, resumeValue, save);
    },
    reply: resolvedReply,
  });
}

const RESOLVED = json('The answer is accepted. This is the state of the run.', resolvedInterrupt);

function resolve(
  options: InterruptRoutesOptions,
  { major, principal }: AuthorizedCall,
  address: InterruptAddress,
  resumeValue: Json,
  save: Save<Resolved>,
): Promise<Resolved> {
  return answering(major, () => resolveInterrupt(options, principal, address, resumeValue, save));
}

/** Returns the claims of a call's token. Its authentication has verified the token, but not when it expires. */
function claimsIn({ tokens, clock }: InterruptRoutesOptions, { major, params }: AuthorizedCall): TokenClaims {
  const claims = tokens.verify(params.token ?? '');
  if (claims === undefined) throw new Error('A token passed authentication and cannot be verified again.');
  if (claims.expiresAt <= clock.now()) throw REFUSALS[major].expired();
  return claims;
}

function resolvedReply({ run, nodeId }: Resolved, { major }: AuthorizedCall): Reply {
  return { status: 200, body: resolvedBody(major, run, nodeId) };
}

const TOKEN_ERRORS = {
  1: [
    ...(['unauthenticated', 'rate_limited', 'forbidden', 'not_found', 'interrupt_not_found'] as const),
    ...(['interrupt_already_resolved', 'interrupt_cancelled', 'interrupt_expired'] as const),
  ],
  2: [
    ...(['interrupt_token_invalid', 'rate_limited', 'forbidden', 'not_found'] as const),
    ...(['interrupt_already_resolved', 'interrupt_expired'] as const),
  ],
} as const;

/** The error for an invalid token. Rate limits by client address pass unchanged. */
const TOKEN_REFUSED: Readonly<Record<Major, (error: AuthError) => Error>> = {
  1: (error) => error,
  2: (error) => {
    if (error.status !== 401) return error;
    return new HostError('interrupt_token_invalid', error.message, {
      details: undefined,
      headers: { 'www-authenticate': 'Bearer' },
    });
  },
};

async function answering<T>(major: Major, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Unanswerable ? REFUSALS[major][error.reason]() : error;
  }
}

const NO_QUESTION = 'There is no such question.';

/** The error of each major for a question that does not accept an answer. */
const REFUSALS: Readonly<Record<Major, Readonly<Record<UnanswerableReason, () => HostError>>>> = {
  1: {
    'not-found': () => refusal('interrupt_not_found', NO_QUESTION),
    resolved: alreadyResolved,
    cancelled: () => refusal('interrupt_cancelled', 'The run was cancelled while it waited.'),
    expired,
  },
  2: {
    'not-found': () => refusal('not_found', NO_QUESTION),
    resolved: alreadyResolved,
    cancelled: alreadyResolved,
    expired,
  },
};

function alreadyResolved(): HostError {
  return refusal('interrupt_already_resolved', 'The question is already answered, or its run no longer waits.');
}

function expired(): HostError {
  return refusal('interrupt_expired', 'The token has expired. Ask for a new one.');
}

function refusal(
  code:
    | 'interrupt_not_found'
    | 'interrupt_already_resolved'
    | 'interrupt_cancelled'
    | 'interrupt_expired'
    | 'not_found',
  message: string,
): HostError {
  return new HostError(code, message, { details: undefined });
}

/** A segment that cannot be decoded names no node. */
function nodeIn({ params }: AuthorizedCall): string {
  return decodedSegment(params.nodeId) ?? '';
}
