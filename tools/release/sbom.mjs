/**
 * Describes what a package brings along: its production dependencies with their licences and hashes, as CycloneDX.
 * `npm sbom` of a workspace describes the project instead, and leaves out the dependencies that it shares with tests.
 */
import { Buffer } from 'node:buffer';

/**
 * Returns the software bill of materials of a package. The same lockfile always gives the same text.
 *
 * @param {Record<string, any>} lock the lockfile
 * @param {string} folder of the package
 * @param {string} [integrity] of its tarball, as npm writes it
 * @returns {object} a CycloneDX 1.5 document
 */
export function sbomOf(lock, folder, integrity) {
  const own = lock.packages[folder];
  const found = productionDependencies(lock, folder);
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      lifecycles: [{ phase: 'build' }],
      component: componentOf({ ...own, integrity }),
    },
    components: found.map(({ entry }) => ({ ...componentOf(entry), scope: 'required' })),
    dependencies: [{ path: folder, entry: own }, ...found].map(({ path, entry }) => ({
      ref: referenceOf(entry),
      dependsOn: namesIn(entry)
        .map((name) => resolved(lock, path, name))
        .filter((dependency) => dependency !== undefined)
        .map((dependency) => referenceOf(dependency.entry))
        .sort(),
    })),
  };
}

/**
 * Lists the packages that an installation of a package brings along, optional peers left out.
 *
 * @param {Record<string, any>} lock the lockfile
 * @param {string} folder of the package
 * @returns {{ path: string, entry: Record<string, any> }[]} entries of the lockfile with their names, ordered by name
 */
export function productionDependencies(lock, folder) {
  const found = new Map();
  const waiting = [{ path: folder, entry: lock.packages[folder] }];
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    for (const name of namesIn(one.entry)) {
      const dependency = resolved(lock, one.path, name);
      if (dependency === undefined || found.has(dependency.path)) continue;
      found.set(dependency.path, dependency);
      waiting.push(dependency);
    }
  }
  return [...found.values()].sort((one, other) => (referenceOf(one.entry) < referenceOf(other.entry) ? -1 : 1));
}

function namesIn({ dependencies = {}, optionalDependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} }) {
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true);
  return [...new Set([...Object.keys(dependencies), ...Object.keys(optionalDependencies), ...peers])];
}

/** Finds a package as Node does: in the nearest node_modules. Returns undefined for one that is not installed. */
function resolved(lock, from, name) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    const entry = lock.packages[path];
    if (entry?.link === true) return { path: entry.resolved, entry: { name, ...lock.packages[entry.resolved] } };
    if (entry !== undefined) return { path, entry: { name, ...entry } };
    if (folder === '') return undefined;
  }
}

function componentOf({ name, version, license, integrity }) {
  return {
    'bom-ref': referenceOf({ name, version }),
    type: 'library',
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(license === undefined ? {} : { licenses: [licenceOf(license)] }),
    ...(integrity === undefined ? {} : { hashes: [hashOf(integrity)] }),
  };
}

function referenceOf({ name, version }) {
  return `${name}@${version}`;
}

/** A name of the SPDX list is an id; `(MIT OR ISC)` is an expression. */
function licenceOf(license) {
  return /^[\w.+-]+$/.test(license) ? { license: { id: license } } : { expression: license };
}

function hashOf(integrity) {
  const [, bits, digest] = /^sha(\d+)-(.+)$/.exec(integrity.split(' ')[0]);
  return { alg: `SHA-${bits}`, content: Buffer.from(digest, 'base64').toString('hex') };
}
