#!/usr/bin/env node
import { keepCompiledCode, runOnPinnedNode, runsHere } from './runtime.ts';

// On an older Node the import of the host fails, so the version is checked before it.
if (runsHere()) {
  keepCompiledCode();
  const { command } = await import('./command.ts');
  await command(process.argv.slice(2), process.env);
} else runOnPinnedNode();
