// Loaded before the host, tells its parent how much memory its objects take after a collection of garbage.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

process.on('message', (message) => {
  if (message !== 'measure the heap') return;
  collectGarbage();
  process.send?.({ heapMegabytes: Math.round(process.memoryUsage().heapUsed / 1024 / 1024) });
});
// The channel alone keeps no process alive.
process.channel?.unref();
