// `npm run soak -- [--callers] [--minutes N] [--store sqlite|postgres] [--seed S] [--keep]`
import { argv, exit } from 'node:process';
import { parseArgs } from 'node:util';
import { type CallersOutcome, callersSoak } from './callers.ts';
import type { Finding } from './judge.ts';
import { type Outcome, soak } from './soak.ts';
import type { StoreName } from './world.ts';

/** The number of findings that are printed for each rule. */
const SHOWN = 10;

const { callers, stores, minutes, seed, keep } = asked();
let failed = false;
if (callers) {
  console.log(`── callers, ${minutes} min, seed ${seed} ──`);
  const outcome = await callersSoak({ seconds: minutes * 60, seed, keep, say: console.log });
  reportCallers(outcome);
  failed = outcome.findings.length > 0;
}
for (const store of stores) {
  console.log(`── ${store}, ${minutes} min, seed ${seed} ──`);
  const started = Date.now();
  const outcome = await soak({ store, seconds: minutes * 60, seed, keep, say: console.log });
  report(store, outcome, Date.now() - started);
  failed ||= outcome.findings.length > 0;
}
exit(failed ? 1 : 0);

interface Asked {
  /** Whether the soak of callers was asked for, in place of that of stores. */
  readonly callers: boolean;
  readonly stores: readonly StoreName[];
  readonly minutes: number;
  readonly seed: number;
  readonly keep: boolean;
}

function asked(): Asked {
  try {
    const { values } = parseArgs({
      args: argv.slice(2),
      options: {
        callers: { type: 'boolean' },
        minutes: { type: 'string' },
        store: { type: 'string' },
        seed: { type: 'string' },
        keep: { type: 'boolean' },
      },
    });
    const { callers = false, minutes = '1', store, seed = String(Date.now() % 1_000_000), keep = false } = values;
    if (callers && store !== undefined)
      throw new Error('--store: the soak of callers is on SQLite. Leave one of the options out.');
    if (store !== undefined && store !== 'sqlite' && store !== 'postgres')
      throw new Error('--store: must be sqlite or postgres.');
    if (!(Number(minutes) > 0)) throw new Error('--minutes: must be a number above 0.');
    if (!/^[0-9]{1,9}$/.test(seed)) throw new Error('--seed: must be a whole number of at most nine digits.');
    return {
      callers,
      stores: callers ? [] : store === undefined ? ['sqlite', 'postgres'] : [store],
      minutes: Number(minutes),
      seed: Number(seed),
      keep,
    };
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    console.error('Usage: npm run soak -- [--callers] [--minutes N] [--store sqlite|postgres] [--seed S] [--keep]');
    exit(2);
  }
}

function report(store: StoreName, { findings, figures, folder }: Outcome, tookMs: number): void {
  const { runs, events, requests, accepted, duplicates, deadLetters, boots, disturbances, effects } = figures;
  const acts = Object.entries(disturbances).map(([kind, count]) => `${count} × ${kind}`);
  const took = `${(tookMs / 60_000).toFixed(1)} min`;
  const counts = `${runs} runs, ${events} events, ${requests} requests received, ${deadLetters} dead letters`;
  console.log(`${store}: ${took}, ${counts}`);
  console.log(
    `deliveries: ${accepted} accepted, ${duplicates} of them more than once (${percentOf(duplicates, accepted)})`,
  );
  console.log(
    `starts of hosts: ${boots.count}, ready after ${boots.medianMs} ms (median), ${boots.longestMs} ms (longest)`,
  );
  console.log(`disturbances: ${acts.join(', ')}`);
  const done = Object.entries(effects).map(([name, count]) => `${count} ${name}`);
  if (done.length > 0) console.log(`disks: ${done.join(', ')}`);
  if (findings.length === 0) {
    console.log('Every acknowledged run is accounted for.');
    if (folder !== undefined) console.log(`Kept: ${folder}`);
    return;
  }
  for (const [rule, of] of byRule(findings)) {
    console.error(`\n${of.length} × ${rule}`);
    for (const { fault } of of.slice(0, SHOWN)) console.error(`  ${fault}`);
    if (of.length > SHOWN) console.error(`  and ${of.length - SHOWN} more`);
  }
  console.error(`\nLogs, records, evidence and database are in ${folder}`);
  console.error(`To repeat: npm run soak -- --store ${store} --minutes ${minutes} --seed ${seed}`);
}

function reportCallers({ findings, valid, tokens, strangers, keys, quotas, folder }: CallersOutcome): void {
  console.log(`valid callers: ${inWords(valid)} requests, with ${tokens} tokens`);
  for (const [name, answers] of Object.entries(strangers)) console.log(`strangers, ${name}: ${inWords(answers)}`);
  console.log(`keys: ${inWords({ ...keys })}`);
  console.log(`quotas: ${inWords({ ...quotas })}`);
  if (findings.length === 0)
    console.log('No valid caller was refused, no revoked key was accepted, and no request above a quota.');
  for (const finding of findings.slice(0, SHOWN)) console.error(`  ${finding}`);
  if (findings.length > SHOWN) console.error(`  and ${findings.length - SHOWN} more`);
  if (folder !== undefined) console.error(`The log and the database are in ${folder}`);
  if (findings.length > 0) console.error(`To repeat: npm run soak -- --callers --minutes ${minutes} --seed ${seed}`);
}

function inWords(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} × ${name}`)
    .join(', ');
}

function percentOf(part: number, whole: number): string {
  return `${((100 * part) / Math.max(whole, 1)).toFixed(2)} %`;
}

function byRule(findings: readonly Finding[]): Map<string, Finding[]> {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) groups.set(finding.rule, [...(groups.get(finding.rule) ?? []), finding]);
  return groups;
}
