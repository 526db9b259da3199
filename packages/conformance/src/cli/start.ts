import { svcConformance } from './command.ts';
import { wantsColours } from './terminal.ts';

const { env, stdout, stderr, argv } = process;
const interruption = new AbortController();
// The first signal interrupts the run, which cleans up; the second ends the process at once.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interruption.abort());

// A reader such as `head` closes the pipe early; that is not a failure.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

process.exitCode = await svcConformance(argv.slice(2), {
  env,
  stdout,
  stderr,
  colours: wantsColours(env, stdout.isTTY === true),
  interrupted: interruption.signal,
});
