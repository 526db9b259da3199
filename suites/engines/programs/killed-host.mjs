// A process with a host: `killed-host.mjs DATABASE DONE [RESTATE]`. It starts the run that its parent names by IPC, or waits for the
// end of one. The file DONE gets a line for each call of a step. RESTATE: JSON of the options of the engine on Restate.
import { appendFileSync } from 'node:fs';
import { argv } from 'node:process';
import { workflow } from '@svc/host-kit/engine/steps';
import { z } from 'zod';
import { openHost } from './opened-host.mjs';

const [, , databaseUrl, done, restate] = argv;
/** Ends the step that hangs. */
let release = () => {};

const three = workflow({
  id: 'three',
  inputs: z.object({ hangs: z.boolean() }),
  async run({ hangs }, { step }) {
    const first = await step('first', () => {
      appendFileSync(done, 'first\n');
      return Math.random();
    });
    await step('second', async ({ attempt }) => {
      appendFileSync(done, `second ${attempt}\n`);
      if (!hangs || attempt > 0) return;
      await new Promise((resolve) => {
        release = resolve;
        process.send({ hangs: true });
      });
    });
    await step('third', () => appendFileSync(done, 'third\n'));
    return { first };
  },
});

const host = await openHost({ databaseUrl, workflows: [three], ...(restate && { restate: JSON.parse(restate) }) });
process.on('message', async ({ start, waitFor, recorded, type, count, goOn, stop }) => {
  if (start !== undefined) process.send({ runId: await host.start('three', start) });
  if (waitFor !== undefined) process.send({ status: (await host.comesTo(waitFor, 'completed', 'failed')).status });
  if (recorded !== undefined) process.send({ recorded: await host.records(recorded, type, count) });
  if (goOn !== undefined) release();
  if (stop !== undefined) await host.stop().then(() => process.disconnect());
});
process.send({ isReady: true });
