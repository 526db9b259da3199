// `npm run load -- [--minutes N]`
import { argv, exit } from 'node:process';
import { parseArgs } from 'node:util';
import { load } from './load.ts';

const { values } = parseArgs({ args: argv.slice(2), options: { minutes: { type: 'string' } } });
const minutes = Number(values.minutes ?? '1');
if (!(minutes > 0)) {
  console.error('--minutes: must be a number above 0.\nUsage: npm run load -- [--minutes N]');
  exit(2);
}
const { findings, figures } = await load({ seconds: minutes * 60, readers: 200, say: console.log });
console.log(
  `${figures.requests} requests (${Math.round(figures.requests / (minutes * 60))}/s), ` +
    `${figures.events} events read in streams, ${figures.delivered} deliveries; ` +
    `memory at most ${figures.mostMb} MiB, objects of the heap ${figures.warmHeapMb} → ${figures.lastHeapMb} MiB, ` +
    `file descriptors ${figures.warmDescriptors} → ${figures.lastDescriptors}`,
);
for (const finding of findings) console.error(finding);
exit(findings.length === 0 ? 0 : 1);
