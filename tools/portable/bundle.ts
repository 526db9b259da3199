import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/** The part of esbuild that is used here. It is a dependency of tsup. */
interface Bundler {
  build(options: object): Promise<{ readonly outputFiles: readonly { readonly text: string }[] }>;
}

const { build }: Bundler = createRequire(createRequire(import.meta.url).resolve('tsup'))('esbuild');

/**
 * Bundles a suite into one module without imports, for a runtime without files.
 *
 * @param condition the condition of the runtime in the `exports` of packages
 */
export async function bundleSuite(suite: URL, condition: 'browser' | 'workerd'): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(suite)],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    platform: 'neutral',
    conditions: [condition, 'browser', 'module', 'import'],
    mainFields: ['browser', 'module', 'main'],
    logLevel: 'silent',
  });
  return outputFiles[0]?.text ?? '';
}
