export type { DebugBundle, OmittedSection, SigningKey } from './format.ts';
export { MOST_BUNDLE_BYTES } from './format.ts';
export { type BundleFault, type BundleVerdict, verifyDebugBundle } from './verify.ts';
