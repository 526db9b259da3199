import type { JsonObject } from '@svc/host-kit';

/** Titles of the workflows, and JSON Schemas of their inputs, for clients. */
export const DEFINITIONS: Readonly<Record<string, JsonObject>> = {
  echo: { title: 'Completes with its inputs as its outputs', inputSchema: { type: 'object' } },
  fail: {
    title: 'Fails with an error',
    inputSchema: { type: 'object', properties: { message: { type: 'string' } } },
  },
  delay: {
    title: 'Completes after some time',
    inputSchema: {
      type: 'object',
      properties: { ms: { type: 'integer', minimum: 0, maximum: 60_000 } },
      required: ['ms'],
    },
  },
  clarification: {
    title: 'Asks a person, and completes with the answers',
    inputSchema: {
      type: 'object',
      properties: {
        question: { type: 'string', minLength: 1 },
        choices: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 100 },
        rounds: { type: 'integer', minimum: 1, maximum: 100 },
        timeoutMs: { type: 'integer', minimum: 0 },
      },
    },
  },
  'external-event': {
    title: 'Waits for an event of another system, and completes with it',
    inputSchema: {
      type: 'object',
      properties: {
        eventType: { type: 'string', minLength: 1 },
        correlation: { type: 'object' },
        timeoutMs: { type: 'integer', minimum: 0 },
      },
    },
  },
  burst: {
    title: 'Writes many events to its log',
    inputSchema: {
      type: 'object',
      properties: { events: { type: 'integer', minimum: 0, maximum: 100_000 } },
      required: ['events'],
    },
  },
  fetch: {
    title: 'Makes one HTTP GET through the egress guard',
    inputSchema: {
      type: 'object',
      properties: { url: { type: 'string', format: 'uri' }, bearer: { type: 'string' } },
      required: ['url'],
    },
  },
  note: {
    title: 'Adds a line to a file of the workspace',
    inputSchema: {
      type: 'object',
      properties: { path: { type: 'string' }, line: { type: 'string' } },
      required: ['path', 'line'],
    },
  },
  pay: {
    title: 'Posts an order once',
    inputSchema: {
      type: 'object',
      properties: {
        url: { type: 'string', format: 'uri' },
        order: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
        isRepeatable: { type: 'boolean' },
      },
      required: ['url', 'order'],
    },
  },
  count: {
    title: 'Executes nodes, one after the other',
    inputSchema: {
      type: 'object',
      properties: { nodes: { type: 'integer', minimum: 0, maximum: 10_000 } },
      required: ['nodes'],
    },
  },
};
