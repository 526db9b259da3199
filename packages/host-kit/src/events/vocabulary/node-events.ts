import { durationMs, failure, nodeId, resumption, suspension } from '../members.ts';
import { any, closed, flag, optional, text, whole } from '../shape.ts';
import { byId, type EventEntry, INTERRUPT_ID } from './event-entry.ts';

/** The event types of the nodes of a run, and of the work that is divided among them. */
export const NODE_EVENTS = {
  'node.started': {
    text: 'An attempt at a node began.',
    payload: closed({ nodeId, typeId: text({ minLength: 1, maxLength: 256 }), attempt: optional(whole(0)) }),
    example: { nodeId: 'publish', typeId: 'acme.publish', attempt: 0 },
  },
  'node.completed': {
    text: 'A node ended with its outputs.',
    isUpdate: true,
    payload: closed({ nodeId, outputs: optional(any), durationMs: optional(durationMs) }),
    example: { nodeId: 'publish', outputs: { url: 'https://blog.example/42' } },
  },
  'node.failed': {
    text: 'A node ended with an error.',
    isUpdate: true,
    payload: closed({ nodeId, error: failure, attempts: optional(whole(0)) }),
    example: { nodeId: 'publish', error: { code: 'upstream_unavailable', message: 'The blog did not answer.' } },
  },
  'node.suspended': {
    text: 'A node waits for an answer.',
    recordedBy: { questions: 'any' },
    isUpdate: true,
    ...byId(suspension),
    example: { nodeId: 'gate', interruptId: `acme/${INTERRUPT_ID}`, kind: 'approval', key: 'publish' },
    exampleInMajor1: { nodeId: 'gate', interruptId: INTERRUPT_ID, kind: 'approval', key: 'publish' },
  },
  'node.suspend-failed': { text: 'A node could not be suspended.' },
  'node.resumed': {
    text: 'A suspended node continues.',
    recordedBy: { questions: 'any' },
    ...byId(resumption),
    example: { nodeId: 'gate', interruptId: `acme/${INTERRUPT_ID}`, resumeValue: { action: 'accept' } },
    exampleInMajor1: { nodeId: 'gate', interruptId: INTERRUPT_ID, resumeValue: { action: 'accept' } },
  },
  'node.retried': {
    text: 'A failed node is attempted again.',
    payload: closed({ nodeId, attempt: whole(0), delayMs: optional(durationMs), lastError: optional(any) }),
    example: { nodeId: 'publish', attempt: 1, delayMs: 500 },
  },
  'node.skipped': {
    text: 'A node was skipped.',
    isUpdate: true,
    payload: closed({ nodeId, reason: optional(text()) }),
    example: { nodeId: 'translate', reason: 'one language only' },
  },
  'node.cancelled': {
    text: 'A node was cancelled.',
    recordedBy: 'kit-and-engine',
    isUpdate: true,
    payload: closed({ nodeId, reason: optional(text()) }),
    example: { nodeId: 'publish', reason: 'run-cancelled' },
  },
  'node.dispatched': { text: 'A node was handed to a worker.', isUpdate: true },
  'output.chunk': {
    text: 'A node produced a part of its output.',
    payload: closed({
      nodeId,
      chunk: any,
      isLast: optional(flag),
      channel: optional(text()),
      meta: optional(any),
    }),
    example: { nodeId: 'draft', chunk: 'Once upon a time', isLast: false },
  },
  'dispatch.fanned-out': { nameInMajor1: 'core.dispatch.fanOut', text: 'Work was divided among several branches.' },
  'dispatch.joined': { nameInMajor1: 'core.dispatch.join', text: 'The branches of divided work were joined.' },
  'orchestrator.decided': {
    nameInMajor1: 'runOrchestrator.decided',
    text: 'The orchestrator of the run made a decision.',
  },
} as const satisfies Readonly<Record<string, EventEntry>>;
