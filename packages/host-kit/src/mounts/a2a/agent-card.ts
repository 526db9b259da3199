import type { AgentCard, AgentSkill } from '@a2a-js/sdk';

/**
 * The members of the agent card that the host chooses. The mount adds its URL, its protocol versions and its
 * capabilities.
 *
 * @see A2A 1.0, AgentCard
 */
export interface AgentDescription {
  /** The display name of the agent. */
  readonly name: string;
  /** The purpose of the agent, for people and for other agents. */
  readonly description: string;
  /** The version of the agent, in its own numbering. */
  readonly version: string;
  /** The provider of the agent, with the URL of its website. Default: the card names no provider. */
  readonly organization?: { readonly name: string; readonly url: string };
  /** The workflows that a message may name, one skill each. The list is for clients; the mount does not enforce it. */
  readonly skills: readonly {
    /** The id of the workflow. A message names it in `metadata.workflowId`. */
    readonly id: string;
    /** The display name of the skill. */
    readonly name: string;
    /** The purpose of the skill, for people and for other agents. */
    readonly description: string;
    /** Keywords. Default: none. */
    readonly tags?: readonly string[];
    /** Messages that the skill can serve. Default: none. */
    readonly examples?: readonly string[];
  }[];
}

/**
 * Returns the public card of the mount at `url`: both versions of the protocol over JSON-RPC, with a bearer credential.
 *
 * @see Interface: Version axes, 11
 */
export function agentCard(url: string, about: AgentDescription): AgentCard {
  return {
    name: about.name,
    description: about.description,
    version: about.version,
    provider: about.organization && { organization: about.organization.name, url: about.organization.url },
    supportedInterfaces: A2A_VERSIONS.map((protocolVersion) => ({
      url,
      protocolBinding: 'JSONRPC',
      protocolVersion,
      tenant: '',
    })),
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: false, extensions: [] },
    securitySchemes: {
      bearer: {
        scheme: { $case: 'httpAuthSecurityScheme', value: { scheme: 'bearer', bearerFormat: '', description: '' } },
      },
    },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    defaultInputModes: ['application/json', 'text/plain'],
    defaultOutputModes: ['application/json'],
    skills: about.skills.map(skillOf),
    signatures: [],
  };
}

/** The versions that the mount serves, the preferred one first. */
export const A2A_VERSIONS = ['1.0', '0.3'] as const;
export type A2aVersion = (typeof A2A_VERSIONS)[number];

function skillOf({ id, name, description, tags = [], examples = [] }: AgentDescription['skills'][number]): AgentSkill {
  return {
    id,
    name,
    description,
    tags: [...tags],
    examples: [...examples],
    inputModes: [],
    outputModes: [],
    securityRequirements: [],
  };
}
