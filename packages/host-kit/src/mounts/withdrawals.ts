import { z } from 'zod';
import type { AccessServices } from '../access/access-parts.ts';
import { reachedWithdrawal, restore, withdraw } from '../access/withdraw.ts';
import type { WithdrawalTerms } from '../access/withdrawal.ts';
import { empty, json } from '../http/description.ts';
import { type MountRoute, mountRoute, parse } from '../http/route.ts';
import type { StoredWithdrawal } from '../ports/access.ts';
import {
  viewOfWithdrawal,
  type WithdrawalBody,
  withdrawalBody,
  withdrawalPage,
  withdrawalView,
} from '../wire/access.ts';
import { idInPath, idQuery, PAGE_QUERY, pageOf, pathId } from './access-page.ts';
import { ok, PRIVATE } from './owned-webhook.ts';

/**
 * The routes under `/host/<org>/withdrawals`: a caller with the scope `withdrawals:manage` disables people, and withdraws
 * tokens and sessions, of its tenant and mode.
 */
export function withdrawalRoutes(services: AccessServices): MountRoute[] {
  return [...readingRoutes(services), ...changingRoutes(services)];
}

const SCOPE = 'withdrawals:manage';
const PATH = { withdrawalId: pathId('The id of the withdrawal.') };

function readingRoutes(services: AccessServices): MountRoute[] {
  const { store } = services;
  return [
    mountRoute({
      method: 'GET',
      path: '/withdrawals',
      scope: SCOPE,
      describes: {
        operationId: 'listWithdrawals',
        summary: 'List withdrawals',
        description: 'The withdrawals of the tenant and mode, in the order of their ids.',
        query: { ...PAGE_QUERY, principal: z.string().optional().describe('Withdrawals of this principal alone.') },
        answers: { 200: json('A page of withdrawals.', withdrawalPage, PRIVATE) },
      },
      serve: (call) =>
        pageOf(call, 'withdrawals', viewOfWithdrawal, async ({ after, limit }) => {
          const { tenant, mode } = call.principal.tenancy;
          const principal = idQuery(call.query, 'principal');
          const reached: StoredWithdrawal[] = [];
          for (let from = after; ; ) {
            const found = await store.access.list('withdrawal', tenant, { after: from, limit: BATCH, principal });
            for (const record of found) if (record.kind === 'withdrawal' && record.mode === mode) reached.push(record);
            const last = found.at(-1);
            if (reached.length >= limit || found.length < BATCH || last === undefined) return reached.slice(0, limit);
            from = last.id;
          }
        }),
    }),
    mountRoute({
      method: 'GET',
      path: '/withdrawals/{withdrawalId}',
      scope: SCOPE,
      describes: {
        operationId: 'readWithdrawal',
        summary: 'Read a withdrawal',
        description: 'A withdrawal of the tenant and mode.',
        path: PATH,
        answers: { 200: json('The withdrawal.', withdrawalView, PRIVATE) },
        errors: ['not_found'],
      },
      serve: async (call) =>
        ok(viewOfWithdrawal(await reachedWithdrawal(services, call.principal, idInPath(call, 'withdrawalId')))),
    }),
  ];
}

const BATCH = 500;

function changingRoutes(services: AccessServices): MountRoute[] {
  return [
    mountRoute({
      method: 'POST',
      path: '/withdrawals',
      scope: SCOPE,
      takesBody: true,
      describes: {
        operationId: 'withdrawCredentials',
        summary: 'Disable a person, or withdraw a token or a session',
        description:
          'No request that begins after the answer is accepted with a withdrawn credential, on any host of the store, and ' +
          'its streams end. It holds in every workspace of the tenant, also in those that the caller does not reach. Safe to repeat: the ' +
          'same withdrawal has one id, and is never made shorter.',
        body: withdrawalBody,
        example: { withdraws: 'principal', principal: 'p_7f3a' },
        answers: { 201: json('The withdrawal.', withdrawalView, PRIVATE) },
      },
      // Safe without an idempotency key: a repeated withdrawal is the same record.
      async serve(call) {
        const terms = termsIn(parse(withdrawalBody, call.json), services.clock.now());
        return ok(viewOfWithdrawal(await withdraw(services, call.principal, terms)), 201);
      },
    }),
    mountRoute({
      method: 'DELETE',
      path: '/withdrawals/{withdrawalId}',
      scope: SCOPE,
      describes: {
        operationId: 'restoreCredentials',
        summary: 'End a withdrawal',
        description: 'What has not expired is accepted again.',
        path: PATH,
        answers: { 204: empty('The withdrawal has ended.') },
        errors: ['not_found'],
      },
      async serve(call) {
        await restore(services, call.principal, idInPath(call, 'withdrawalId'));
        return { status: 204 };
      },
    }),
  ];
}

function termsIn(body: WithdrawalBody, now: number): Omit<WithdrawalTerms, 'mode'> {
  const bounds = body.until === undefined ? {} : { until: Date.parse(body.until) };
  switch (body.withdraws) {
    case 'principal':
      return { ...bounds, withdraws: 'principal', name: body.principal };
    case 'token':
      return { ...bounds, withdraws: 'token', issuer: body.issuer, name: body.jti };
    case 'session':
      return { ...bounds, withdraws: 'session', issuer: body.issuer, name: body.sid };
    case 'subject': {
      const issuedBefore = body.issuedBefore === undefined ? now : Date.parse(body.issuedBefore);
      return { ...bounds, withdraws: 'subject', issuer: body.issuer, name: body.subject, issuedBefore };
    }
  }
}
