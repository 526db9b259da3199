import type { AgentCard, AgentSkill } from '@a2a-js/sdk';

/** What an agent card says beside what the mount knows itself. */
export interface AgentDescription {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly organization?: { readonly name: string; readonly url: string };
  /** One for each workflow that may be asked for, by its id. */
  readonly skills: readonly {
    readonly id: string;
    readonly name: string;
    readonly description: string;
    readonly tags?: readonly string[];
    readonly examples?: readonly string[];
  }[];
}

/**
 * The public card of the mount at `url`: both versions of the protocol over JSON-RPC, with a bearer credential.
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

/** The preferred one first. */
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
