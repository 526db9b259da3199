export type { DebugBundle, OmittedSection, SigningKey } from './format.ts';
export { type BundleFault, type BundleVerdict, verifyDebugBundle } from './verify.ts';
