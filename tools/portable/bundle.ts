import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/** The part of the bundler that is used here; it comes with tsup. */
interface Bundler {
  build(options: object): Promise<{ readonly outputFiles: readonly { readonly text: string }[] }>;
}

const { build }: Bundler = createRequire(createRequire(import.meta.url).resolve('tsup'))('esbuild');

/** A suite as one module without imports, as a bundler makes it for a runtime that has no files. */
export async function bundleSuite(suite: URL): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(suite)],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    platform: 'neutral',
    conditions: ['browser', 'module', 'import'],
    mainFields: ['browser', 'module', 'main'],
    logLevel: 'silent',
  });
  return outputFiles[0]?.text ?? '';
}
