import { REFERENCE_INTEROP } from '../../discovery/reference-interop.ts';

/** The record of MCP in discovery, without the features: the mount serves only tools. */
const { features: _, ...MCP } = REFERENCE_INTEROP.mcp;

export { MCP };

/** The revisions of MCP that the mount serves: those that discovery advertises, and no other. */
export const REVISIONS: readonly string[] = MCP.revisions;
