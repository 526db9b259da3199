export { standardVerifier, VERIFICATION_TYPE } from './challenge.ts';
export type { StandardHeaderFamily } from './headers.ts';
export { isStandardSecret, prepareStandardSecret } from './secret.ts';
export { type SignStandardInput, signStandard, signStandardWith } from './sign.ts';
export { type StandardMessage, StandardWebhook, type StandardWebhookOptions } from './verify.ts';
