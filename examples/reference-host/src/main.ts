import { runOnPinnedNode, runsHere } from './runtime.ts';

// Nothing else is imported before the runtime is known to have it.
if (runsHere()) {
  const { command } = await import('./command.ts');
  await command(process.argv.slice(2), process.env);
} else runOnPinnedNode();
