import { svcWebhook } from './command.ts';
import { wantsColours } from './terminal.ts';

const { env, stdin, stdout, stderr, argv } = process;
const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interruption.abort());

// A reader such as `head` closes the pipe early; that is not a failure.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

process.exitCode = await svcWebhook(argv.slice(2), {
  env,
  stdin,
  stdout,
  stderr,
  colours: wantsColours(env, stdout.isTTY === true),
  now: Date.now,
  interrupted: interruption.signal,
});
