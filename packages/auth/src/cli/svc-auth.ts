#!/usr/bin/env node
const { node } = process.versions;
const [major = 0, minor = 0] = node.split('.').map(Number);
if (major > 22 || (major === 22 && minor >= 19)) {
  // Imported only here: an older Node fails to load the program, with a stack in place of a reason.
  await import('./svc-auth-start.ts');
} else {
  process.stderr.write(`svc-auth: needs Node 22.19 or later, and this is Node ${node}. Install a newer Node.\n`);
  process.exitCode = 2;
}
