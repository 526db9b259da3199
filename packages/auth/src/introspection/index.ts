export type {
  ClientAuthentication,
  ClientAuthenticationParts,
  ClientSecretOptions,
  PrivateKeyJwtOptions,
} from './client-authentication.ts';
export { clientSecretBasic, privateKeyJwt } from './client-authentication.ts';
export type { IntrospectionFetch } from './endpoint.ts';
export type { IntrospectionLaneOptions } from './lane.ts';
export { introspectionLane } from './lane.ts';
