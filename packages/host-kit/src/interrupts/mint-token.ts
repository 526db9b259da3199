import type { Principal } from '@svc/auth';
import type { ChangeServices } from '../audit/change-services.ts';
import { factAbout } from '../audit/fact.ts';
import type { RunServices } from '../runs/change-run.ts';
import { runForChange } from '../runs/find-run.ts';
import { deadlineOf, requireApprover } from './approvers.ts';
import { type InterruptAddress, pendingInterrupt } from './resolve.ts';
import { standingFor } from './standing.ts';
import type { InterruptTokens, TokenClaims, TokenIntent } from './token.ts';

export interface MintTokenOptions extends ChangeServices, Pick<RunServices, 'standingOf'> {
  readonly tokens: InterruptTokens;
}

/**
 * Makes the claims of a token for a pending question, and records that. The bearer of the token acts as the caller, so
 * a caller who may not answer gets no token with the intent `resolve`.
 *
 * @throws {HostError} `not_found`, `run_forbidden`; `forbidden` when the caller is not among the approvers
 * @throws {Unanswerable} when the question is not pending
 */
export async function mintToken(
  options: MintTokenOptions,
  principal: Principal,
  address: InterruptAddress,
  {
    intent,
    lifetimeMs = DEFAULT_LIFETIME_MS,
  }: { readonly intent: TokenIntent; readonly lifetimeMs?: number | undefined },
): Promise<TokenClaims> {
  const { store, clock, recordAudit } = options;
  const { tenancy } = principal;
  const standing = await standingFor(options, principal, address.runId);
  return await store.transaction(async (transaction) => {
    const run = await runForChange(store.runs, tenancy, address.runId)(transaction);
    const interrupt = await pendingInterrupt(options, { run, transaction }, address);
    if (intent === 'resolve') requireApprover(interrupt, principal, standing);
    const now = clock.now();
    const { interruptId, nodeId } = interrupt;
    const fact = factAbout(principal, {
      action: 'interrupt.token',
      target: `${run.tenant}/${run.runId}`,
      at: now,
      workspace: run.workspace,
      details: { node: nodeId, interrupt: interruptId, intent },
    });
    await recordAudit(fact, transaction);
    return {
      ...{ tenant: run.tenant, mode: run.mode, runId: run.runId, nodeId, interruptId, intent },
      // The token expires with the question.
      expiresAt: Math.min(now + lifetimeMs, deadlineOf(interrupt) ?? Number.MAX_SAFE_INTEGER),
      approver: { principal: principal.id, subject: principal.subject },
    };
  });
}

const DEFAULT_LIFETIME_MS = 30 * 60_000;
