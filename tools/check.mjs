// Everything that is checked beside the tests. All steps run; all failures are told at the end.
import { spawnSync } from 'node:child_process';

const STEPS = [
  ['types of sources', ['node_modules/typescript/bin/tsc', '-b']],
  ['types of tests and tools', ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.test.json']],
  ['format and lint', ['node_modules/@biomejs/biome/bin/biome', 'ci', '--colors=off', '.']],
  ['imports', ['tools/check-imports.mjs']],
  ['packages', ['tools/check-packages.mjs']],
  ['requirements', ['tools/check-requirements.mjs']],
];

const failed = STEPS.filter(([name, command]) => {
  const started = Date.now();
  const env = { ...process.env, NO_COLOR: '1' };
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8', env });
  console.log(`${status === 0 ? '✓' : '✗'} ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
  if (status !== 0) console.log(`${stdout}${stderr}`);
  return status !== 0;
});
if (failed.length > 0)
  console.log(`${failed.length} of ${STEPS.length} checks failed: ${failed.map(([name]) => name).join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
