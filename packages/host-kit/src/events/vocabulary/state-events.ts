import { nodeId } from '../members.ts';
import { any, closed, exact, flag, oneOf, open, optional, text, whole } from '../shape.ts';
import type { EventEntry } from './event-entry.ts';

/** The event types of what a run keeps: artifacts, files, variables, logs, memories. */
export const STATE_EVENTS = {
  'channel.written': { text: 'A channel of the run got a value.' },
  'channel.presence': { text: 'A participant of a channel came or went.' },
  'context.summarized': { text: 'The context of an agent was summarized.' },
  'artifact.created': {
    text: 'The run produced an artifact.',
    recordedBy: 'kit-and-engine',
    isUpdate: true,
    payload: closed({
      artifactId: text({ minLength: 1 }),
      artifactType: text({ minLength: 1 }),
      nodeId: optional(nodeId),
      version: optional(any),
      summary: optional(text()),
      registered: optional(flag),
    }),
    example: { artifactId: 'art_01k0p3v9wn7t5q3m1k8j6h4g2f', artifactType: 'text', version: 1, summary: 'The post' },
  },
  'variable.changed': {
    text: 'A variable of the run changed.',
    payload: closed({
      name: text({ minLength: 1 }),
      previous: optional(any),
      next: optional(any),
      nodeId: optional(nodeId),
    }),
    example: { name: 'attempts', previous: 1, next: 2 },
  },
  'log.appended': {
    text: 'A node wrote a log message.',
    recordedBy: 'kit-and-engine',
    payload: closed({
      level: oneOf('debug', 'info', 'warn', 'error'),
      message: text(),
      nodeId: optional(nodeId),
      fields: optional(open),
    }),
    example: { level: 'info', message: 'The post has 420 words.', nodeId: 'draft', fields: { words: 420 } },
  },
  'workspace.updated': {
    text: 'A file of the workspace changed.',
    recordedBy: 'kit-and-engine',
    isUpdate: true,
    payload: exact({ path: text({ minLength: 1, maxLength: 256 }), version: whole(1) }),
    inMajor1: exact({ path: text({ minLength: 1, maxLength: 256 }), version: whole(1) }),
    example: { path: 'notes/plan.md', version: 3 },
  },
  'memory.compacted': { text: 'A memory was compacted.' },
  'memory.written': { text: 'A memory was written.' },
} as const satisfies Readonly<Record<string, EventEntry>>;
