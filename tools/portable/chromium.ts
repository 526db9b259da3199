import { accessSync, constants } from 'node:fs';
import { createServer } from 'node:http';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';
import { bundleSuite } from './bundle.ts';
import type { SuiteReport } from './report.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'chrome'];

/** Returns the Chromium that `CHROMIUM` names, else the first one of the path, else undefined. */
export function findChromium(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const candidates = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [process.env.CHROMIUM ?? '', ...candidates].find(isProgram);
}

/** Runs a suite in a page of a real browser. */
export async function runInChromium(program: string, suite: URL): Promise<SuiteReport> {
  const text = await bundleSuite(suite, 'browser');
  const server = createServer(({ url }, response) => {
    const isSuite = url === '/suite.js';
    response.setHeader('content-type', isSuite ? 'text/javascript' : 'text/html');
    response.end(isSuite ? text : '<!doctype html><title>suite</title>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('The server of the suite is not listening on a port.');
  const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${address.port}/`);
    // As text, because the tests' compiler must not transform code of the page.
    return await page.evaluate(`import('/suite.js').then(({ default: suite }) => suite())`);
  } finally {
    await browser.close();
    server.close();
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return path !== '';
  } catch {
    return false;
  }
}
