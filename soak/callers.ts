import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chance as chanceOf } from '@svc/tools/chance';
import { sleep } from './child.ts';
import { type GuardedHost, startGuardedHost } from './guarded-host.ts';
import { type KeyFigures, keyChanges } from './key-changes.ts';
import { meteredKeys, type QuotaFigures } from './metered-keys.ts';
import { type StrangerFigures, strangers } from './strangers.ts';
import { validCallers } from './valid-callers.ts';

/** Options of {@link callersSoak}. */
export interface CallersSoakOptions {
  readonly seconds: number;
  /** Determines how long tokens are used, and which keys are changed. */
  readonly seed: number;
  /**
   * Judges whether everything has happened that the soak is to show. Until then it goes on, for at most `mostSeconds`. Default:
   * the soak ends after `seconds`.
   */
  readonly until?: (figures: CallersFigures) => boolean;
  /** The longest soak with `until`. Default: `seconds`. */
  readonly mostSeconds?: number;
  /** Keeps the folder also without findings. Default: false. */
  readonly keep?: boolean;
  /** Receives a line of progress every few seconds. */
  readonly say: (line: string) => void;
}

/** The requests so far. */
export interface CallersFigures {
  /** The requests of each kind of valid caller. */
  readonly valid: Readonly<Record<string, number>>;
  /** The tokens that valid callers presented. */
  readonly tokens: number;
  /** The answers to each kind of stranger, by status. */
  readonly strangers: StrangerFigures;
  readonly keys: KeyFigures;
  readonly quotas: QuotaFigures;
}

/** The result of {@link callersSoak}. */
export interface CallersOutcome extends CallersFigures {
  /**
   * Valid callers that were refused, strangers and revoked keys that were accepted, and requests above a quota: one sentence
   * for each.
   */
  readonly findings: readonly string[];
  /** The folder with the log and the database; undefined when it was deleted. */
  readonly folder: string | undefined;
}

/**
 * Starts a reference host and sends it valid requests and those of strangers from one address: callers with keys and with
 * tokens that are new again and again, operators that issue, rotate and revoke keys, and callers that use up quotas. Judges
 * every answer.
 */
export async function callersSoak(options: CallersSoakOptions): Promise<CallersOutcome> {
  const { seed, keep = false } = options;
  const folder = mkdtempSync(join(tmpdir(), `svc-soak-callers-${seed}-`));
  const host = await startGuardedHost(folder);
  try {
    const outcome = await judged(host, options);
    const isKept = keep || outcome.findings.length > 0;
    await host.end();
    if (!isKept) rmSync(folder, { recursive: true, force: true });
    return { ...outcome, folder: isKept ? folder : undefined };
  } finally {
    await host.end();
  }
}

async function judged(
  host: GuardedHost,
  { seconds, mostSeconds = seconds, until = () => true, seed, say }: CallersSoakOptions,
): Promise<Omit<CallersOutcome, 'folder'>> {
  const findings: string[] = [];
  const find = (finding: string) => void (findings.length < MOST_FINDINGS && findings.push(finding));
  const chance = chanceOf(seed);
  const callers = validCallers(host, chance, find);
  // A host that has accepted no credential from an address cannot know that valid callers are there.
  await callers.introduce();
  callers.begin();
  const keys = keyChanges(host, chance, find);
  const metered = meteredKeys(host, chance, find);
  const attackers = strangers(host, callers.tokens, find);
  const figures = () => ({
    ...{ valid: callers.figures(), tokens: callers.minted(), strangers: attackers.figures() },
    ...{ keys: keys.figures(), quotas: metered.figures() },
  });
  const started = Date.now();
  const progress = setInterval(
    () => say(`${Math.round((Date.now() - started) / 1000)} of ${seconds} s: ${JSON.stringify(figures())}`),
    SAY_MS,
  );
  const died = host.ended.then((how) => find(`The host ended during the soak (${how}). Its log says why.`));
  const hasDied = died.then(() => true);
  let isOver = await Promise.race([sleep(seconds * 1000).then(() => false), hasDied]);
  while (!isOver && !until(figures()) && Date.now() - started < mostSeconds * 1000)
    isOver = await Promise.race([sleep(LOOK_MS).then(() => false), hasDied]);
  clearInterval(progress);
  await Promise.all([callers.stop(), keys.stop(), metered.stop(), attackers.stop()]);
  return { findings: [...findings], ...figures() };
}

const SAY_MS = 5000;
const LOOK_MS = 200;
/** A host that refuses everybody would fill the memory. */
const MOST_FINDINGS = 1000;
