/**
 * Writes the guides of each package into its folder `docs`, so that they are in the tarball and an editor without a network
 * reads them: `node tools/write-package-docs.mjs`, a part of the build. The declarations in `dist` have the reference.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, resolve } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';
import { withLinks } from './with-links.mjs';

/** The pages of each package, from `docs/`. A page keeps its place there, so links between two of them stay as they are. */
const PAGES = {
  'packages/auth': [
    'scopes.md',
    'start/authenticate-callers.md',
    'start/manage-api-keys.md',
    'guides/manage-roles-and-withdraw-credentials.md',
    'guides/use-an-identity-provider.md',
  ],
  'packages/console': ['guides/show-webhooks-to-your-customers.md', 'guides/watch-and-repair-in-the-console.md'],
  'packages/egress-guard': ['start/guard-a-url.md'],
  'packages/engine-dbos': ['scale.md', 'start/write-a-workflow.md'],
  'packages/engine-restate': ['scale.md', 'start/write-a-workflow.md'],
  'packages/host-kit': [
    'start/from-a-run-to-your-webhook.md',
    'start/run-a-host.md',
    'start/write-a-workflow.md',
    'guides/ask-for-an-approval.md',
    'guides/call-a-host-from-a-browser.md',
    'guides/chain-two-hosts.md',
    'guides/follow-all-runs.md',
    'guides/own-a-subscription.md',
    'guides/read-a-debug-bundle.md',
    'guides/repair-deliveries.md',
    'guides/start-runs-by-change.md',
    'guides/start-runs-by-form.md',
    'guides/start-runs-by-queue.md',
    'guides/start-runs-by-schedule.md',
    'guides/start-runs-by-stream.md',
    'guides/start-runs-by-webhook.md',
    'guides/test-your-engine.md',
    'guides/wait-for-people-and-events.md',
    'guides/write-an-engine.md',
  ],
  'packages/versioning': ['version-axes.md', 'start/serve-two-versions.md', 'guides/retire-major-1.md'],
  'packages/webhook-verify': [
    'start/from-a-run-to-your-webhook.md',
    'start/receive-a-webhook.md',
    'guides/handle-each-event-exactly-once.md',
    'guides/rotate-a-webhook-secret.md',
    'guides/test-a-receiver.md',
    'migrate/from-github.md',
    'migrate/from-standard-webhooks.md',
    'migrate/from-stripe.md',
    'migrate/from-svix.md',
  ],
};

/** The folders, which git ignores. */
export const PACKAGE_DOCS = Object.keys(PAGES).map((folder) => `${folder}/docs`);

/** Files that the folders are made from. */
export const PACKAGE_DOCS_SOURCES = [...new Set(Object.values(PAGES).flat())].map((page) => `docs/${page}`);

/** @param {string} root a checkout */
export function writePackageDocs(root) {
  const { homepage } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const repository = homepage.replace(/#.*$/, '');
  for (const [folder, pages] of Object.entries(PAGES)) {
    rmSync(join(root, folder, 'docs'), { recursive: true, force: true });
    for (const page of pages) {
      const file = join(root, folder, 'docs', page);
      mkdirSync(dirname(file), { recursive: true });
      const text = readFileSync(join(root, 'docs', page), 'utf8');
      writeFileSync(file, packagedPage(text, page, { folder, pages, repository }));
    }
  }
}

/**
 * Makes a page of a package: comments that configure the checks of this repository go. Links to another page of the package
 * stay, a link to its README leads to the README, and any other leads to the repository.
 *
 * @param {string} text of the page
 * @param {string} page from `docs/`
 * @param {{ folder: string, pages: readonly string[], repository: string }} into `folder` is that of the package, from the
 * root; `pages` are all its pages; `repository` is the URL of the repository
 */
export function packagedPage(text, page, { folder, pages, repository }) {
  const here = posix.dirname(`docs/${page}`);
  return withLinks(text.replace(/^<!--[\s\S]*?-->\n\n?/gm, ''), (href) => {
    if (/^([a-z][a-z0-9+.-]*:|\/\/|#)/i.test(href)) return href;
    const [written = '', hash = ''] = href.split(/(?=#)/);
    const target = posix.join(here, written).replace(/\/$/, '');
    if (pages.some((other) => target === `docs/${other}`)) return href;
    if (target === folder || target === `${folder}/README.md`) return posix.relative(here, 'README.md') + hash;
    return `${repository}/tree/main/${target}${hash}`;
  });
}

if (argv[1] !== undefined && resolve(argv[1]) === fileURLToPath(import.meta.url)) {
  writePackageDocs(dirname(dirname(fileURLToPath(import.meta.url))));
}
