import type { Tag } from '../http/description.ts';

/** The tags of the API description, in the order in which tools list them. */
export const TAGS: Readonly<Record<Tag, string>> = {
  Discovery: 'The capabilities of this host. No credential is required.',
  Workflows: 'The definitions that runs execute.',
  Runs: 'Create, read, list, cancel, pause, resume and fork runs.',
  Events: 'The event log of a run, as a stream or by polling.',
  Interrupts: 'Questions that a run asks, and their answers.',
  Artifacts: 'Results that runs produce.',
  Webhooks: 'Subscriptions to events of runs, and failed deliveries.',
  Triggers: 'Subscriptions to messages that start runs.',
  Audit: 'The verification of the audit log.',
  'Workspace files': 'The files that the agents of a workspace share.',
};
