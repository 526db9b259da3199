import { mintId } from '@svc/versioning/ids';
import { asJson } from '../as-json.ts';
import type { Json } from '../json.ts';
import type { Effect, EffectState } from '../ports/effects.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import { EffectNotMade, type EffectRequest, EffectUnsettled, type RunEffect } from '../ports/run-effects.ts';
import { isExecutable } from '../ports/runs.ts';
import { epochOf, type OpenRun } from '../runs/event-log.ts';
import type { DrivenRun } from './driven-run.ts';
import { type EffectIdentity, effectIdentity } from './effect-id.ts';
import type { Redactor } from './redactor.ts';

export interface RunEffectsParts extends Pick<HostPorts, 'store' | 'clock' | 'random'> {
  readonly driven: DrivenRun;
  readonly redactor: Redactor;
  readonly isReplay: boolean;
}

/** Makes the `effect` of a run for one turn. Calls for the same effect at the same time share one attempt. */
export function runEffects(parts: RunEffectsParts): RunEffect {
  const { driven, isReplay } = parts;
  const underWay = new Map<string, Promise<Json>>();
  return async (request, perform) => {
    if (isReplay) {
      throw new TypeError('effect: a replay has no effects. Call it in a node, which a replay does not execute.');
    }
    if (typeof perform !== 'function') throw new TypeError('effect: perform must be a function. Pass one.');
    const identity = effectIdentity(driven.run, request);
    if (driven.left !== undefined) throw driven.left;
    const { effectId } = identity;
    const shared = underWay.get(effectId);
    const made = shared ?? makeOnce(parts, request, identity, perform).finally(() => underWay.delete(effectId));
    underWay.set(effectId, made);
    // A copy, because each caller may change its result. A stored result has the type that its attempt gave it.
    return JSON.parse(JSON.stringify(await made));
  };
}

async function makeOnce(
  parts: RunEffectsParts,
  request: EffectRequest,
  identity: EffectIdentity,
  perform: Parameters<RunEffect>[1],
): Promise<Json> {
  const { driven, redactor } = parts;
  const { effectId } = identity;
  const claim = await claimed(parts, request, identity);
  if (claim.kind === 'completed') return claim.result;
  if (claim.kind === 'unsettled') throw new EffectUnsettled(claim.state, effectId);
  const { invocationId, isRepeat } = claim;
  let result: Json;
  try {
    const made = await perform({ effectId, isRepeat, signal: driven.signal });
    result = storable(redactor.redacted(asJson('effect: the result of perform', made)));
  } catch (error) {
    await settle(parts, effectId, invocationId, { state: error instanceof EffectNotMade ? 'released' : 'escaped' });
    throw error;
  }
  await settle(parts, effectId, invocationId, { state: 'completed', result });
  if (driven.left !== undefined) throw driven.left;
  return result;
}

type Claim =
  | { readonly kind: 'claimed'; readonly invocationId: string; readonly isRepeat: boolean }
  | { readonly kind: 'completed'; readonly result: Json }
  | { readonly kind: 'unsettled'; readonly state: EffectUnsettled['state'] };

/** Claims an effect for an attempt, or finds the reason not to make it. */
async function claimed(parts: RunEffectsParts, request: EffectRequest, identity: EffectIdentity): Promise<Claim> {
  const { store, driven } = parts;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    // Outside of the transaction: to lock the run of another claim there could deadlock.
    const seen = await store.effects.read(identity.effectId).catch((error: unknown) => driven.leaveUnread(error));
    const isLive = seen?.state === 'claimed' && (await isUnderWay(parts, seen));
    const claim = await driven.change(async (open) => {
      if (open.run.status !== 'running') return 'left';
      const current = await store.effects.readForChange(identity.effectId, open.transaction);
      if (current?.invocationId !== seen?.invocationId || current?.state !== seen?.state) return 'moved';
      return await claimIn(parts, open, { request, identity, current, isLive });
    });
    if (claim === 'left') throw driven.left;
    if (claim === 'too-many') {
      throw new TypeError(`effect: a run asks for at most ${MOST_EFFECTS} effects. Start another run for the others.`);
    }
    if (claim !== 'moved') return claim;
  }
  // Other runs claim and settle the effect in between, every time.
  return { kind: 'unsettled', state: 'claimed' };
}

const MOST_TRIES = 5;
/** Limits the ledger of a run, which is read as a whole. */
export const MOST_EFFECTS = 10_000;

function storable(result: Json): Json {
  const { length } = JSON.stringify(result);
  if (length <= MOST_RESULT_SIZE) return result;
  throw new TypeError(
    `effect: the result of perform has ${length} characters of JSON, and at most ${MOST_RESULT_SIZE} are stored. The ` +
      'outcome of the effect is now unknown. Return the members that the run needs, such as the id of a receipt.',
  );
}

/** Limits a stored result, in characters of JSON. */
const MOST_RESULT_SIZE = 65_536;

interface Claiming {
  readonly request: EffectRequest;
  readonly identity: EffectIdentity;
  readonly current: Effect | undefined;
  /** Whether another run is making the effect now. */
  readonly isLive: boolean;
}

async function claimIn(
  { store, clock, random, driven, redactor }: RunEffectsParts,
  open: OpenRun,
  { request, identity, current, isLive }: Claiming,
): Promise<Claim | 'too-many'> {
  const { run, transaction } = open;
  const asked = run.usage?.effects ?? 0;
  if (asked >= MOST_EFFECTS && current?.runId !== run.runId) return 'too-many';
  const at = clock.now();
  const { nodeId } = request;
  const attempt = driven.latest.openNodes?.find((node) => node.nodeId === nodeId)?.attempt ?? 0;
  const isUnknown = current?.state === 'escaped' || (current?.state === 'claimed' && !isLive);
  const isClaimed =
    current === undefined || current.state === 'released' || (isUnknown && request.isRepeatable === true);
  const invocationId = mintId('inv', clock.now, random);
  if (isClaimed) {
    const providerKey = redactor.redacted(request.provider);
    const { runId } = run;
    const claim = { ...identity, providerKey, invocationId, runId, epoch: epochOf(run), nodeId, attempt };
    await store.effects.save({ ...claim, state: 'claimed', at }, transaction);
  } else if (current.state === 'claimed' && !isLive) {
    await store.effects.save({ ...current, state: 'escaped', at }, transaction);
  }
  const use = { effectId: identity.effectId, runId: run.runId, nodeId, attempt, at };
  if (await store.effects.addUse(use, transaction)) {
    open.set({ ...run, usage: { ...run.usage, effects: asked + 1 } });
  }
  if (isClaimed) return { kind: 'claimed', invocationId, isRepeat: isUnknown };
  if (current.state === 'completed') return { kind: 'completed', result: current.result ?? null };
  return { kind: 'unsettled', state: isLive ? 'claimed' : 'escaped' };
}

/**
 * Whether the run that claimed an effect is still being executed by the host that claimed it. An earlier turn of the
 * asking run is over.
 */
async function isUnderWay({ store, driven }: RunEffectsParts, { runId, epoch }: Effect): Promise<boolean> {
  const { tenant, mode } = driven.run;
  if (runId === driven.run.runId) return false;
  const found = await store.runs
    .read({ tenant, mode, workspaces: 'all' }, runId)
    .catch((error: unknown) => driven.leaveUnread(error));
  return found.kind === 'found' && isExecutable(found.value.status) && epochOf(found.value) === epoch;
}

/**
 * Records the outcome of an attempt, also when the run was left meanwhile. Does nothing when a later attempt has
 * claimed the effect.
 */
async function settle(
  { store, clock, driven }: RunEffectsParts,
  effectId: string,
  invocationId: string,
  outcome: { readonly state: EffectState; readonly result?: Json },
): Promise<void> {
  const settled = store.transaction(async (transaction) => {
    const current = await store.effects.readForChange(effectId, transaction);
    if (current?.invocationId !== invocationId) return;
    await store.effects.save({ ...current, ...outcome, at: clock.now() }, transaction);
  });
  await settled.catch((error: unknown) => driven.leaveUnread(error));
}
