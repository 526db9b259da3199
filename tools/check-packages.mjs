// The packages as they would be published: packed, linted, and installed into an empty project that imports every entry.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const SKELETON = [
  'package.json',
  'README.md',
  'CHANGELOG.md',
  'LICENSE',
  'tsconfig.json',
  'tsup.config.ts',
  'src',
  'test',
];
const FIELDS = ['name', 'version', 'description', 'license', 'type', 'engines', 'files', 'exports', 'publishConfig'];

const scratch = mkdtempSync(join(tmpdir(), 'svc-packages-'));
const problems = [];
try {
  const packages = readdirSync('packages').map((name) => ({ name, folder: join('packages', name) }));
  for (const { folder } of packages) checkSkeleton(folder);
  const consumer = join(scratch, 'consumer');
  mkdirSync(join(consumer, 'node_modules', '@svc'), { recursive: true });
  for (const { name, folder } of packages) checkTarball(name, folder, consumer);
  checkConsumer(consumer, packages);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

function checkSkeleton(folder) {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  for (const name of SKELETON) if (!existsSync(join(folder, name))) problems.push(`${folder}: has no ${name}`);
  for (const field of FIELDS)
    if (manifest[field] === undefined) problems.push(`${folder}/package.json: has no ${field}`);
  if (manifest.sideEffects !== false) problems.push(`${folder}/package.json: sideEffects must be false`);
}

/** Packs, lints, and unpacks into the consumer's node_modules. */
function checkTarball(name, folder, consumer) {
  run('npm', ['pack', '--silent', '--pack-destination', scratch], folder, shellOnWindows());
  const tarball = join(
    scratch,
    readdirSync(scratch).find((file) => file.startsWith(`svc-${name}-`) && file.endsWith('.tgz')),
  );
  run(process.execPath, [resolve('node_modules/publint/src/cli.js'), tarball, '--strict'], '.');
  run(
    process.execPath,
    [resolve('node_modules/@arethetypeswrong/cli/dist/index.js'), tarball, '--profile', 'esm-only'],
    '.',
  );
  run('tar', ['-xzf', tarball, '-C', scratch], '.');
  const unpacked = join(scratch, 'package');
  const tests = readdirSync(unpacked, { recursive: true }).filter((file) => /\.test\.ts$/.test(file));
  if (tests.length > 0) problems.push(`${folder}: the tarball holds tests: ${tests.join(', ')}`);
  if (!existsSync(join(unpacked, 'LICENSE'))) problems.push(`${folder}: the tarball holds no LICENSE`);
  cpSync(unpacked, join(consumer, 'node_modules', '@svc', name), { recursive: true });
  rmSync(unpacked, { recursive: true });
}

/** An empty project with the unpacked packages, and of everything else what is installed here. */
function checkConsumer(consumer, packages) {
  for (const dependency of thirdParty(packages)) {
    cpSync(join('node_modules', dependency), join(consumer, 'node_modules', dependency), { recursive: true });
  }
  const imports = packages.flatMap(({ name, folder }) => {
    const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const entries = Object.keys(exports).filter((entry) => !entry.endsWith('.json'));
    return entries.map((entry) => `@svc/${name}${entry.slice(1)}`);
  });
  writeFileSync(join(consumer, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(consumer, 'all.mjs'), imports.map((specifier) => `import '${specifier}';`).join('\n'));
  const uses = imports.map((specifier, index) => `import * as m${index} from '${specifier}';`);
  const names = imports.map((_, index) => `m${index}`).join(', ');
  writeFileSync(join(consumer, 'all.ts'), `${uses.join('\n')}\nexport const all: object[] = [${names}];\n`);
  run(process.execPath, ['--no-warnings', 'all.mjs'], consumer);
  const types = resolve('node_modules/@types');
  const flags = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--lib',
    'es2023,dom,dom.iterable',
  ];
  const tsc = resolve('node_modules/typescript/bin/tsc');
  run(process.execPath, [tsc, ...flags, '--skipLibCheck', '--types', 'node', '--typeRoots', types, 'all.ts'], consumer);
}

/** What our packages depend on, and what that depends on. */
function thirdParty(packages) {
  const found = new Set();
  const visit = (manifestPath) => {
    const { dependencies = {} } = JSON.parse(readFileSync(manifestPath, 'utf8'));
    for (const name of Object.keys(dependencies)) {
      if (name.startsWith('@svc/') || found.has(name)) continue;
      found.add(name);
      visit(join('node_modules', name, 'package.json'));
    }
  };
  for (const { folder } of packages) visit(join(folder, 'package.json'));
  return found;
}

function run(program, args, cwd, options = {}) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8', ...options });
  if (status !== 0) problems.push(`${program.split('/').at(-1)} ${args.join(' ')}:\n${stdout}${stderr}`);
}

function shellOnWindows() {
  return { shell: process.platform === 'win32' };
}
