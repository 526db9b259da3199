import { availableParallelism } from 'node:os';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { CI_ONLY_TESTS } from './tools/ci-only-tests.ts';
import { LongestFirst } from './tools/longest-first.ts';

// The workspace runs from source; the packed shape has tests of its own.
const conditions = ['@svc/source', 'node'];

// On an overloaded machine a boot alone takes more than ten seconds.
const ofHosts = { testTimeout: 300_000, hookTimeout: 300_000 };

// Hundreds of processes load the same modules, each anew.
env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('.cache/compiled', import.meta.url));

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'packages',
          setupFiles: ['tools/property-seed.ts'],
          include: ['packages/*/{src,test}/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...CI_ONLY_TESTS],
          // These files leave no state behind. One process for several of them loads the packages once: a quarter of the time.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'hosts',
          ...ofHosts,
          include: ['examples/reference-host/test/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...CI_ONLY_TESTS],
          // Most of these files boot hosts in their own process, which loads the host once for several of them.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'programs',
          include: ['{examples/*,tools,soak,load,faults,mutation}/**/*.test.ts'],
          // Those of projects to start from run with `node --test`, in the suite `frameworks`.
          exclude: [
            '**/node_modules/**',
            ...['examples/reference-host/test/**', 'examples/{hosts,receivers}/**', ...CI_ONLY_TESTS],
          ],
        },
      },
      {
        extends: true,
        test: {
          name: 'ci-only',
          ...ofHosts,
          include: [...CI_ONLY_TESTS],
        },
      },
    ],
    // Much of the time is spent waiting: for flushes, for deliveries, for events that must not come.
    sequence: { sequencer: LongestFirst },
    maxWorkers: Math.max(6, availableParallelism()),
    // A machine that has other things to do is ten times slower, and a test that hangs ends all the same.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
