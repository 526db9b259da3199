// `npm run faults -- [--count N] [--seed S] [--floor F] [--json FILE] [--undecided]`
import { writeFileSync } from 'node:fs';
import { argv, exit } from 'node:process';
import { parseArgs } from 'node:util';
import { operations } from './exchange.ts';
import { bootHost } from './host.ts';
import { readDocuments } from './judge/documents.ts';
import { brokenAsRecorded } from './judge/judge.ts';
import { record } from './recording.ts';
import { judged, scoreOf, tableOf } from './score.ts';
import { tryAll } from './try-all.ts';

/** Checks that may fail in the recorded run. With more of them, the score would not be that of the suite. */
const MOST_LEFT_OUT = 3;

const { count, seed, floor, json, undecided } = asked();
const host = await bootHost();
let isRight = false;
try {
  isRight = await run();
} finally {
  await host.stop();
}
exit(isRight ? 0 : 1);

async function run(): Promise<boolean> {
  const began = performance.now();
  const seconds = () => `${((performance.now() - began) / 1000).toFixed(0)} s`;
  const documents = await readDocuments(host.url);
  const operationOf = operations(documents.paths);
  const recording = await record(host.url, operationOf);
  const exchanges = recording.recorded.flatMap((of) => of.exchanges);
  console.log(`${seconds()}: recorded ${recording.recorded.length} kinds of exchange`);
  const context = { documents, secretOf: (webhookId: string) => recording.secrets.get(webhookId) };
  // A sentence that the host itself breaks would say nothing of a mutant.
  const wrong = new Set(
    exchanges.flatMap((exchange) =>
      brokenAsRecorded(exchange, context).map(
        (requirement) =>
          `${requirement} by ${exchange.asked.method} ${exchange.asked.target} (${exchange.said.status})`,
      ),
    ),
  );
  for (const failure of recording.failed) console.error(`left out, because it failed without a mutation: ${failure}`);
  for (const problem of wrong) console.error(`The recorded run breaks a sentence: ${problem}`);
  const mutants = judged(seed, count, recording.recorded, context);
  const { tried, alarms, controls } = await tryAll(host.url, operationOf, recording, mutants.breaking);
  const score = scoreOf(seed, tried, mutants);
  console.log(`${seconds()}: seed ${seed}`);
  console.log(tableOf(score));
  console.log(`false alarms: ${alarms.length} in ${controls} runs without a mutation`);
  for (const alarm of alarms) console.error(`  ${alarm}`);
  if (undecided) for (const name of score.undecided) console.log(`unjudged: ${name}`);
  if (json !== undefined) writeFileSync(json, `${JSON.stringify({ ...score, controls, alarms }, null, 2)}\n`);
  if (score.score < floor)
    console.error(`The score is below ${floor}. To repeat: npm run faults -- --count ${count} --seed ${seed}`);
  return score.score >= floor && alarms.length === 0 && recording.failed.length <= MOST_LEFT_OUT && wrong.size === 0;
}

interface Options {
  /** Number of mutants that break a sentence. */
  readonly count: number;
  readonly seed: number;
  /** The least score that is a success. */
  readonly floor: number;
  readonly json: string | undefined;
  readonly undecided: boolean;
}

function asked(): Options {
  try {
    const { values } = parseArgs({
      args: argv.slice(2),
      options: {
        count: { type: 'string' },
        seed: { type: 'string' },
        floor: { type: 'string' },
        json: { type: 'string' },
        undecided: { type: 'boolean' },
      },
    });
    const { count: many = '200', seed: from = String(Date.now() % 1_000_000), floor: least = '0.95' } = values;
    if (!/^[1-9][0-9]{0,4}$/.test(many)) throw new Error('--count: must be a whole number from 1 to 99999.');
    if (!/^[0-9]{1,9}$/.test(from)) throw new Error('--seed: must be a whole number of at most nine digits.');
    if (!(Number(least) >= 0 && Number(least) <= 1)) throw new Error('--floor: must be a number from 0 to 1.');
    return {
      count: Number(many),
      seed: Number(from),
      floor: Number(least),
      json: values.json,
      undecided: values.undecided === true,
    };
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    console.error('Usage: npm run faults -- [--count N] [--seed S] [--floor F] [--json FILE] [--undecided]');
    exit(2);
  }
}
