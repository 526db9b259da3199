import type { Facets } from './families.ts';

/**
 * The A2A and MCP records of the interface's own reference host, for hosts that serve both.
 *
 * @example
 * createHost({ …, discovery: { families: { ...REFERENCE_INTEROP } } });
 */
export const REFERENCE_INTEROP = {
  a2a: { protocolVersions: ['1.0', '0.3'], preferredVersion: '1.0', profiles: ['a2a-1.0', 'a2a-0.3-legacy'] },
  mcp: {
    revisions: ['2026-07-28', '2025-06-18'],
    preferredVersion: '2026-07-28',
    profiles: ['mcp-2026-07-28', 'mcp-2025-06-18-legacy'],
    features: ['server-discover', 'mrtr', 'cacheable-lists'],
  },
} satisfies Facets;
