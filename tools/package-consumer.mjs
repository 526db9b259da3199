import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { execPath } from 'node:process';
import { run } from './bootstrap/children.mjs';

/**
 * Uses tarballs as a user does: unpacks them in an empty folder that has only the dependencies that they declare.
 *
 * @param {string} root the checkout, whose node_modules has the third-party packages
 * @param {string} folder an empty folder outside of the checkout
 * @param {readonly { name: string, tarball: string }[]} packages
 * @param {readonly { name: string, runtime: 'neutral' | 'node' }[]} entries
 * @returns {Promise<string[]>} one sentence for each problem
 */
export async function consumerProblems(root, folder, packages, entries) {
  writeJson(join(folder, 'package.json'), { name: 'consumer', private: true, type: 'module' });
  for (const { name, tarball } of packages) await unpack(tarball, join(folder, 'node_modules', name));
  const own = new Set(packages.map(({ name }) => name));
  for (const { name } of packages) linkDependencies(root, folder, name, own);
  link(root, folder, '@types/node');
  const imports = await importProblems(folder, entries);
  // Without Node's types: the declarations of a neutral entry must not need them.
  const neutral = await compileProblem(
    root,
    folder,
    'neutral',
    entries.filter(({ runtime }) => runtime === 'neutral'),
    [],
  );
  const node = await compileProblem(root, folder, 'node', entries, ['node']);
  return [...imports, neutral, node].filter((problem) => problem !== undefined);
}

/** Puts the content of a tarball into a folder. */
export async function unpack(tarball, into) {
  mkdirSync(into, { recursive: true });
  const { code, output } = await run('tar', ['-xzf', tarball, '-C', into, '--strip-components=1']);
  if (code !== 0) throw new Error(`${tarball} cannot be unpacked: ${output}`);
}

/**
 * Unpacks every tarball of a folder into `node_modules/@svc` of another folder. Their dependencies must be resolvable
 * from there.
 *
 * @param {string} tarballs the folder of the tarballs
 * @param {string} folder
 */
export async function unpackAll(tarballs, folder) {
  for (const file of readdirSync(tarballs)) {
    const name = file.replace(/^svc-/, '').replace(/-\d.*$/, '');
    await unpack(join(tarballs, file), join(folder, 'node_modules/@svc', name));
  }
}

function linkDependencies(root, folder, name, own) {
  // A user of an entry that needs a peer has installed the peer.
  const { dependencies = {}, peerDependencies = {} } = JSON.parse(
    readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8'),
  );
  for (const dependency of Object.keys({ ...dependencies, ...peerDependencies }))
    if (!own.has(dependency)) link(root, folder, dependency);
}

/** Links a package of the checkout's node_modules into a folder's own, unless it is there. */
export function link(root, folder, name) {
  const path = join(folder, 'node_modules', name);
  if (existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(join(root, 'node_modules', name), path, 'junction');
}

/**
 * Imports every entry in a process of its own. As many run at a time as there are processors: all at once they would not fit into the
 * memory of a small machine.
 *
 * @param {string} folder
 * @param {readonly { name: string }[]} entries
 * @param {number} [limitMs] for one import
 * @returns {Promise<string[]>} one sentence for each problem
 */
export async function importProblems(folder, entries, limitMs = 60_000) {
  const problems = [];
  const waiting = entries.map(({ name }) => name);
  const lane = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const program = `await import(${JSON.stringify(name)});`;
      const options = { cwd: folder, timeout: limitMs };
      const { code, signal, output } = await run(execPath, ['--input-type=module', '--eval', program], options);
      // A process that is killed says nothing itself.
      const cause =
        signal === undefined ? output : `${signal} ended the process. Its limit is ${limitMs} ms. ${output}`;
      if (code !== 0) problems.push(`${name} does not import from its tarball: ${cause}`.trim());
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
  return problems;
}

/** Compiles a consumer with `skipLibCheck: false`, so that errors in our declarations are found. */
async function compileProblem(root, folder, title, entries, types) {
  const lines = entries.map(({ name }, index) => `export * as entry${index} from '${name}';`);
  writeFileSync(join(folder, `${title}.ts`), `${lines.join('\n')}\n`);
  writeJson(join(folder, `tsconfig.${title}.json`), {
    compilerOptions: {
      target: 'ES2022',
      lib: ['ES2023', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'],
      module: 'NodeNext',
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      skipLibCheck: false,
      types,
    },
    files: [`${title}.ts`],
  });
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { code, output } = await run(execPath, [tsc, '-p', `tsconfig.${title}.json`], { cwd: folder });
  return code === 0 ? undefined : `A ${title} consumer does not compile:\n${output}`;
}

function writeJson(path, value) {
  writeFileSync(path, JSON.stringify(value, null, 2));
}
