import { appendFileSync } from 'node:fs';
import { argv, stdout } from 'node:process';
import { stepsEngine, workflow } from '@svc/host-kit/engine/steps';
import { sqliteStore } from '@svc/host-kit/stores/sqlite';
import { z } from 'zod';
import { recordedHost } from '../host/recorded-host.ts';

// A host that is killed while a step is under way: `killed-host.ts DATABASE DONE [RUN]`. The file DONE gets a line for each
// call of a step. Without RUN it starts a run, prints its id and hangs in the second step. With RUN it drives that run to
// its end, and prints its status.
const [, , database = '', done = '', runId] = argv;

const two = workflow({
  id: 'two',
  inputs: z.object({}),
  async run(_inputs, { step }) {
    const first = await step('first', () => {
      appendFileSync(done, 'first\n');
      return Math.random();
    });
    await step('second', async ({ attempt }) => {
      appendFileSync(done, `second ${attempt}\n`);
      if (runId === undefined) await new Promise(() => setInterval(() => {}, 1000));
    });
    appendFileSync(done, `ended ${first}\n`);
    return { first };
  },
});

const host = await recordedHost({ store: sqliteStore(database), engine: stepsEngine({ workflows: [two] }) });
if (runId === undefined) stdout.write(`${await host.start('two')}\n`);
else {
  stdout.write(`${(await host.comesTo(runId, 'completed', 'failed')).status}\n`);
  await host.stop();
}
