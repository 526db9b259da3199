import { isOpaqueId } from '@svc/auth';
import { consistencyProof, inclusionProof, storedNodes, type TreeNodes } from '@svc/auth/audit-tree';
import { z } from 'zod';
import { HostError, invalid } from '../errors.ts';
import { json } from '../http/description.ts';
import { type MountCall, type MountRoute, mountRoute } from '../http/route.ts';
import type { AuditStore } from '../ports/audit.ts';
import { yieldToLoop } from '../ports/clock.ts';
import { auditConsistency, auditEntryView, auditInclusion, auditPage } from '../wire/audit-entries.ts';
import { ok, PRIVATE } from './owned-webhook.ts';
import { requireNames } from './query-names.ts';

/**
 * The routes under `/host/<org>/audit`: the entries of the caller's tenant, the signed head of the tree of all entries, and
 * proofs of that tree.
 */
export function auditMountRoutes({ audit }: { readonly audit: AuditStore }): MountRoute[] {
  // One for all requests, so that neighbouring proofs share what they read and hash.
  const nodes = storedNodes(audit);
  return [listing(audit, nodes), checkpoint(audit), inclusion(audit, nodes), consistency(audit, nodes)];
}

const SCOPE = 'audit:read';

function listing(audit: AuditStore, nodes: TreeNodes): MountRoute {
  return mountRoute({
    method: 'GET',
    path: '/audit',
    scope: SCOPE,
    describes: {
      operationId: 'listAuditEntries',
      summary: 'List the entries of the audit log',
      description:
        'The entries of the tenant and the mode of the caller, newest first. A caller that is limited to workspaces gets ' +
        'the entries about these. A page may have fewer entries than `limit`, or none, and a `nextBefore`: one page ' +
        'examines at most 5000 entries. With `treeSize`, each entry has its inclusion proof.',
      query: {
        before: SEQUENCE.optional().describe('The `nextBefore` of the previous page: entries before this sequence.'),
        limit: z.int().min(1).max(MOST_ENTRIES).default(DEFAULT_ENTRIES).describe('The most entries of a page.'),
        action: z.string().regex(ACTION).optional().describe('Entries with this action, such as `run.create`.'),
        principal: z.string().optional().describe('Entries of this principal, by its opaque id.'),
        treeSize: SEQUENCE.optional().describe('Entries of the tree of this size, with their proofs.'),
      },
      answers: { 200: json('A page of entries.', auditPage, PRIVATE) },
    },
    async serve({ principal, query }) {
      requireNames(query, ['before', 'limit', 'action', 'principal', 'treeSize']);
      const treeSize = query.has('treeSize') ? await sizeIn(query, 'treeSize', audit) : undefined;
      const before = query.has('before') ? numberIn(query, 'before') : undefined;
      const { entries, next } = await audit.list(principal.tenancy, {
        before: least(before, treeSize === undefined ? undefined : treeSize + 1),
        limit: limitIn(query),
        action: textIn(query, 'action', (text) => ACTION.test(text), 'an action, such as run.create'),
        principal: textIn(query, 'principal', isOpaqueId, 'the opaque id of a principal, such as p_7f3a'),
      });
      const views = [];
      for (const entry of entries) {
        const { atSequence } = entry;
        const proof =
          treeSize && (await proved(audit, 'before', atSequence, inclusionProof(nodes, atSequence - 1, treeSize)));
        views.push(auditEntryView(entry, proof || undefined));
        if (treeSize !== undefined) await yieldToLoop();
      }
      return ok({ entries: views, ...(next !== undefined && { nextBefore: next }) });
    },
  });
}

function checkpoint(audit: AuditStore): MountRoute {
  return mountRoute({
    method: 'GET',
    path: '/audit/checkpoint',
    scope: SCOPE,
    describes: {
      operationId: 'readAuditCheckpoint',
      summary: 'Read the signed head of the audit log',
      description:
        'The size and the root (RFC 6962) of the tree of all entries up to the last checkpoint, as a signed note: the ' +
        'checkpoint format of transparency logs, with the cosignature of the witness. Its key is `checkpointPublicKey` of ' +
        'discovery, and the name of the key is the first line.',
      answers: { 200: json('The note.', z.string(), { ...PRIVATE, mediaType: 'text/plain' }) },
      errors: ['not_found'],
    },
    async serve() {
      const note = await audit.note();
      if (note === undefined) throw noCheckpoint();
      const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'private, no-store' };
      return { status: 200, headers, body: new TextEncoder().encode(note) };
    },
  });
}

function inclusion(audit: AuditStore, nodes: TreeNodes): MountRoute {
  return mountRoute({
    method: 'GET',
    path: '/audit/proof/inclusion',
    scope: SCOPE,
    describes: {
      operationId: 'proveAuditInclusion',
      summary: 'Prove that an entry is in the audit log',
      description:
        'The inclusion proof of one entry (RFC 9162, section 2.1.3). It has hashes and no content. A removed entry may have none.',
      query: {
        seq: SEQUENCE.describe('The sequence of the entry.'),
        treeSize: SEQUENCE.describe('The size of the tree, from a signed head.'),
      },
      answers: { 200: json('The proof.', auditInclusion, PRIVATE) },
    },
    async serve({ query }) {
      requireNames(query, ['seq', 'treeSize']);
      const seq = numberIn(query, 'seq');
      const treeSize = await sizeIn(query, 'treeSize', audit);
      if (seq > treeSize) throw invalid({ field: 'query.seq', problem: `must be at most treeSize, ${treeSize}` });
      const proof = await proved(audit, 'seq', seq, inclusionProof(nodes, seq - 1, treeSize));
      const leafHash = await proved(audit, 'seq', seq, nodes.node(0, seq - 1));
      return ok({ leafIndex: seq - 1, treeSize, leafHash, proof: [...proof] });
    },
  });
}

function consistency(audit: AuditStore, nodes: TreeNodes): MountRoute {
  return mountRoute({
    method: 'GET',
    path: '/audit/proof/consistency',
    scope: SCOPE,
    describes: {
      operationId: 'proveAuditConsistency',
      summary: 'Prove that the audit log continues an earlier one',
      description:
        'The consistency proof between two sizes of the tree (RFC 9162, section 2.1.4). A size before the start of the log, ' +
        'of which old entries were removed, may have none.',
      query: {
        first: SEQUENCE.describe('The size of the tree of an earlier head.'),
        second: SEQUENCE.describe('The size of the tree of a later head.'),
      },
      answers: { 200: json('The proof.', auditConsistency, PRIVATE) },
    },
    async serve({ query }) {
      requireNames(query, ['first', 'second']);
      const first = numberIn(query, 'first');
      const second = await sizeIn(query, 'second', audit);
      if (first > second) throw invalid({ field: 'query.first', problem: `must be at most second, ${second}` });
      const proof = await proved(audit, 'first', first, consistencyProof(nodes, first, second));
      return ok({ first, second, proof: [...proof] });
    },
  });
}

type Query = MountCall['query'];

const ACTION = /^[a-z][a-z0-9_-]*(?:\.[a-z][a-z0-9_-]*){0,15}$/;
const SEQUENCE = z.int().min(1);
const MOST_ENTRIES = 200;
const DEFAULT_ENTRIES = 50;

function limitIn(query: Query): number {
  if (!query.has('limit')) return DEFAULT_ENTRIES;
  const limit = numberIn(query, 'limit');
  if (limit <= MOST_ENTRIES) return limit;
  throw invalid({ field: 'query.limit', problem: `must be at most ${MOST_ENTRIES}` });
}

function numberIn(query: Query, name: string): number {
  const [value, ...others] = query.getAll(name);
  if (value !== undefined && others.length === 0 && /^[1-9][0-9]{0,14}$/.test(value)) return Number(value);
  throw invalid({ field: `query.${name}`, problem: 'must be given once, as a whole number of at least 1' });
}

/** Reads the size of a tree that the log has. */
async function sizeIn(query: Query, name: string, audit: AuditStore): Promise<number> {
  const size = numberIn(query, name);
  const most = await audit.treeSize();
  if (size <= most) return size;
  throw invalid({ field: `query.${name}`, problem: `must be at most the size of the last signed head, ${most}` });
}

/**
 * Returns what a proof needs of the tree. The hashes before the start of the log may be removed, also while a request is
 * answered, so a proof that lacks them is refused.
 */
async function proved<T>(audit: AuditStore, name: string, sequence: number, proof: Promise<T>): Promise<T> {
  try {
    return await proof;
  } catch (error) {
    const start = (await audit.start())?.atSequence ?? 0;
    if (sequence >= start) throw error;
    const problem = `must be at least ${start}, because older entries of the log were removed, with the hashes that prove them`;
    throw invalid({ field: `query.${name}`, problem });
  }
}

function textIn(query: Query, name: string, isGood: (text: string) => boolean, rule: string): string | undefined {
  const [value, ...others] = query.getAll(name);
  if (value === undefined) return undefined;
  if (others.length === 0 && isGood(value)) return value;
  throw invalid({ field: `query.${name}`, problem: `must be given once, as ${rule}` });
}

function least(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined || right === undefined ? (left ?? right) : Math.min(left, right);
}

function noCheckpoint(): HostError {
  const message = 'The audit log has no checkpoint yet. The first one follows within its interval.';
  return new HostError('not_found', message, { details: undefined });
}
