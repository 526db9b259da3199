import type { Tag } from '../http/description.ts';

/** The chapters of the API description, in the order in which they are read. */
export const TAGS: Readonly<Record<Tag, string>> = {
  Discovery: 'What this host serves and how: without any credential.',
  Workflows: 'The definitions that runs are made of.',
  Runs: 'Creating runs, reading them, and telling them to stop, wait or go on.',
  Events: 'The log of a run, as a stream or by polling.',
  Interrupts: 'Questions that a run waits for an answer to.',
  Artifacts: 'What runs have made.',
  Webhooks: 'Subscriptions to run events, and the deliveries that failed.',
  Audit: 'The verification of the audit log.',
  'Workspace files': 'The files that the agents of a workspace share.',
};
