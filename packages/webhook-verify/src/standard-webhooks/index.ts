export { standardVerifier, VERIFICATION_TYPE } from './challenge.ts';
export type { StandardHeaderFamily } from './headers.ts';
export { isStandardSecret } from './secret.ts';
export { type SignStandardInput, STANDARD_HEADERS, signStandard } from './sign.ts';
export { type StandardMessage, StandardWebhook, type StandardWebhookOptions } from './verify.ts';
