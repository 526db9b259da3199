export type { Facets, Family, HostCapabilities } from './capabilities.ts';
export { documentV1 } from './document-v1.ts';
export { documentV2 } from './document-v2.ts';
export type { DiscoveryInput } from './input.ts';
export { DISCOVERY_JSON_SCHEMAS } from './json-schemas.ts';
export { REFERENCE_INTEROP } from './reference-interop.ts';
export { DISCOVERY_V1, type DiscoveryV1 } from './schema-v1.ts';
export { DISCOVERY_V2, type DiscoveryV2 } from './schema-v2.ts';
export { scopeDiscovery } from './scope.ts';
