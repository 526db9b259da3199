import { availableParallelism } from 'node:os';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// The workspace runs from source; the packed shape has tests of its own.
const conditions = ['@svc/source', 'node'];

// Hundreds of processes load the same modules, each anew.
env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('.cache/compiled', import.meta.url));

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: [
      'packages/*/{src,test}/**/*.test.ts',
      'examples/*/{src,test}/**/*.test.ts',
      'tools/**/*.test.ts',
      'soak/**/*.test.ts',
      'load/**/*.test.ts',
    ],
    // Most of the time is spent waiting: for hosts that boot, for deliveries, for what does not come.
    maxWorkers: Math.max(4, availableParallelism()),
    // A machine that has other things to do is slow, and a test that hangs ends all the same.
    testTimeout: 30_000,
    // Starting and ending a database takes its time on a machine that has other things to do.
    hookTimeout: 60_000,
  },
});
