#!/usr/bin/env node
import { belowNodeFloor } from './node-floor.ts';

// This file must run on any Node that knows modules, so it imports the command only when the running Node can load it.
const problem = belowNodeFloor('svc-webhook', process.versions.node);
if (problem === undefined) {
  await import('./run.ts');
} else {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 2;
}
