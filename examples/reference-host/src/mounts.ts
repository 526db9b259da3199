import { type MountDefinition, VERSION } from '@svc/host-kit';
import type { A2aMountOptions } from '@svc/host-kit/mounts/a2a';
import { type ChatMountOptions, chatMount, publicChatMount } from '@svc/host-kit/mounts/chat';
import type { Config } from './config.ts';

/** Returns the mounts that the configuration switches on. Loads the SDK of a protocol only for its mount. */
export async function mounts({ mounts: { a2a, mcp, chat, publicChat } }: Config): Promise<MountDefinition[]> {
  return [
    ...(a2a ? [(await import('@svc/host-kit/mounts/a2a')).a2aMount(AGENT)] : []),
    ...(mcp ? [(await import('@svc/host-kit/mounts/mcp')).mcpMount()] : []),
    ...(chat ? [chatMount(ECHO)] : []),
    ...(publicChat === undefined ? [] : [publicChatOf(publicChat)]),
  ];
}

function publicChatOf({ perClient, ...surface }: NonNullable<Config['mounts']['publicChat']>): MountDefinition {
  return publicChatMount({ ...ECHO, ...surface, limits: { perClient } });
}

const AGENT: A2aMountOptions = {
  agent: {
    name: 'svc reference host',
    description: 'Runs a workflow: the message names it in metadata.workflowId, and its data part is the inputs.',
    version: VERSION,
    skills: [
      { id: 'echo', name: 'Echo', description: 'Completes with its inputs.' },
      { id: 'delay', name: 'Delay', description: 'Completes after inputs.ms.' },
      { id: 'approval', name: 'Approval', description: 'Asks for an approval, and goes on with the answer.' },
      { id: 'artifact', name: 'Artifact', description: 'Makes an artifact of inputs.content.' },
    ],
  },
};

/** Replies with the message itself, because no model is behind this host. */
const ECHO: ChatMountOptions = { workflowId: 'echo', reply: ({ message }) => message };
