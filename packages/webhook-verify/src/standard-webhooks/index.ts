export { standardVerifier, VERIFICATION_TYPE } from './challenge.ts';
export { isStandardSecret } from './secret.ts';
export { type SignStandardInput, STANDARD_HEADERS, signStandard } from './sign.ts';
export { type StandardMessage, StandardWebhook } from './verify.ts';
