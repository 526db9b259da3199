// A host as a process of its own: `node host-process.mjs '{"place":…,"mayFail":…}'`. The parent sends commands to
// append events and to read its memory. It reports when it is ready, and when a command is done.
import { readFileSync } from 'node:fs';
import { argv } from 'node:process';
import { startHost } from './delivering-host.mjs';
import { openStore } from './stores.mjs';

const { place, mayFail } = JSON.parse(argv[2]);
const host = await startHost(await openStore(place), { mayFail });

const COMMANDS = {
  append: async ({ runs, events }) => {
    await host.appendAll(runs, events);
    return {};
  },
  memory: () => ({ peakMb: peakMb(), nowMb: process.memoryUsage.rss() / 1e6 }),
  stop: async () => {
    await host.stop();
    return {};
  },
};

process.on('message', async ({ command, ...options }) => {
  const answer = await COMMANDS[command](options);
  process.send({ done: command, ...answer });
  if (command === 'stop') process.disconnect();
});
process.send({ done: 'start' });

/** Returns the greatest resident memory so far in MB, as the kernel counts it. */
function peakMb() {
  try {
    return (Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024) / 1e6;
  } catch {
    return (process.resourceUsage().maxRSS * 1024) / 1e6;
  }
}
