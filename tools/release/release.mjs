import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkChangesets } from '../check-changesets.mjs';
import { manifestsBehind } from '../write-manifests.mjs';
import { versionsBehind } from '../write-versions.mjs';
import { publishedPackages, readManifest } from './workspaces.mjs';

/** The tags of releases and of their candidates. */
const TAG = /^v(2\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-rc\.(?:0|[1-9]\d*))?)$/;

/** No address below this name exists (RFC 2606), so no third party can own it. */
const PLACEHOLDER = '.invalid';

/**
 * Returns the reasons why the packages cannot be published under a tag.
 *
 * @param {string} root a checkout
 * @param {string} tag for example `v2.0.0-rc.1`
 * @returns {string[]} one sentence for each reason; none when the release can go ahead
 */
export function releaseProblems(root, tag) {
  const [, version] = TAG.exec(tag) ?? [];
  const packages = publishedPackages(root);
  return [
    version === undefined
      ? `${tag}: is no tag of a release. Use v2.<minor>.<patch> or v2.<minor>.<patch>-rc.<n>.`
      : undefined,
    addressProblem(readManifest(root, '.').repository),
    ...packages
      .filter(({ manifest }) => version !== undefined && manifest.version !== version)
      .map(({ folder, manifest }) => `${folder}: has version ${manifest.version}. The tag is ${tag}.`),
    ...packages
      .filter(({ folder, manifest }) => !notesOf(root, folder, manifest.version))
      .map(
        ({ folder, manifest }) =>
          `${folder}/CHANGELOG.md: has no section ${manifest.version}. Run \`npm run release:version\`.`,
      ),
    ...manifestsBehind(root).map(
      ({ path }) => `${path}: differs from the root's package.json. Run \`npm run release:version\`.`,
    ),
    ...versionsBehind(root).map(({ path }) => `${path}: has another version. Run \`npm run release:version\`.`),
    ...checkChangesets(root),
  ].filter((problem) => problem !== undefined);
}

/**
 * Returns the reason why a repository's address cannot be published, or undefined for an address that can.
 *
 * @param {{ url?: string } | undefined} repository the field of a package.json
 */
export function addressProblem(repository) {
  const address = repository?.url?.replace(/^git\+/, '') ?? '';
  const isReal = URL.canParse(address) && !new URL(address).hostname.endsWith(PLACEHOLDER);
  if (isReal) return undefined;
  return 'repository: is a placeholder. Write the address of the repository into the root package.json, and run node tools/write-manifests.mjs.';
}

/**
 * Returns the tag under which npm offers a version: `next` for a candidate, so that a plain install never gets one.
 *
 * @param {string} version
 */
export function distTagOf(version) {
  return version.includes('-') ? 'next' : 'latest';
}

/**
 * Returns the range under which the packages depend on each other. Candidates promise each other nothing, so they are
 * pinned.
 *
 * @param {string} version
 */
export function siblingRange(version) {
  return version.includes('-') ? version : `^${version}`;
}

/**
 * Returns the section of a version in a package's changelog, or undefined when there is none.
 *
 * @param {string} root a checkout
 * @param {string} folder of the package
 * @param {string} version
 */
export function notesOf(root, folder, version) {
  const path = join(root, folder, 'CHANGELOG.md');
  if (!existsSync(path)) return undefined;
  const sections = readFileSync(path, 'utf8').split(/^## /m).slice(1);
  const section = sections.find((text) => text.split('\n', 1)[0].trim() === version);
  return section === undefined ? undefined : section.slice(section.indexOf('\n')).trim();
}
