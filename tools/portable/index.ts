import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { findChromium, runInChromium } from './chromium.ts';
import { runInProcess } from './process.ts';
import type { SuiteReport } from './report.ts';
import { runInWorkerd } from './workerd.ts';

export type { SuiteReport } from './report.ts';

/** A JavaScript runtime in which suites can run. */
export interface Runtime {
  readonly name: string;
  /** The reason why it cannot be used here, and the remedy; undefined when it can. */
  readonly missing: string | undefined;
  /** Runs a suite against the built packages. The suite is a JavaScript module that imports nothing of Node. */
  run(suite: URL): Promise<SuiteReport>;
}

/** Returns every runtime that the portable packages support. */
export function runtimes(): readonly Runtime[] {
  return [
    inProcess('Node 24', execPath),
    inProcess('Node 22', installed('node-22/bin/node')),
    inProcess('Bun', installed('bun/bin/bun.exe'), 'run'),
    inProcess('Deno', installed('.bin/deno'), 'run', '--allow-read', '--allow-env', '--no-prompt'),
    { name: 'workerd', missing: undefined, run: (suite) => runInWorkerd(installed('.bin/workerd'), suite) },
    {
      name: 'workerd with Node compatibility',
      missing: undefined,
      run: (suite) => runInWorkerd(installed('.bin/workerd'), suite, ['nodejs_compat']),
    },
    chromium(),
  ];
}

function inProcess(name: string, program: string, ...args: readonly string[]): Runtime {
  return { name, missing: undefined, run: (suite) => runInProcess(program, args, suite) };
}

function chromium(): Runtime {
  const program = findChromium();
  return {
    name: 'Chromium',
    missing:
      program === undefined
        ? 'Chromium is not installed. Install it (apt-get install chromium), or set CHROMIUM to its path.'
        : undefined,
    run: (suite) => runInChromium(program ?? '', suite),
  };
}

function installed(path: string): string {
  return fileURLToPath(new URL(`../runtimes/node_modules/${path}`, import.meta.url));
}
