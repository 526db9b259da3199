import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import type { RunEvent } from '../ports/events.ts';
import type { Run } from '../ports/runs.ts';
import { isTerminalEvent } from './transitions.ts';

/** The values of a run, as its log has them. They are derived when they are read, and not stored. */
export interface RunValues {
  /** The inputs, the outputs of each node by its id, and the variables that the engine set; the last change last. */
  readonly variables: ReadonlyMap<string, Variable>;
  /** The nodes by id; the last change last. */
  readonly nodes: ReadonlyMap<string, NodeState>;
  /** The sum of what providers reported. Undefined: none reported anything. */
  readonly cost: RunCost | undefined;
}

interface Variable {
  readonly value: Json;
  /** The length of its name and JSON. */
  readonly size: number;
}

/** A node as the newest of its executions left it. */
export interface NodeState {
  readonly status: 'running' | 'suspended' | 'completed' | 'failed' | 'skipped' | 'cancelled';
  /** Counts from 0. */
  readonly attempt: number;
  readonly typeId?: string;
  /** Times in ms since the epoch. */
  readonly startedAt?: number;
  readonly completedAt?: number;
  readonly errorCode?: string;
}

/** Reported by events of type `provider.usage`. */
export interface RunCost {
  readonly usd: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly durationMs: number;
  /** Those of the last report. */
  readonly provider?: string;
  readonly model?: string;
}

/**
 * The limits of the values of a run: the variables and nodes that changed first are left out beyond them. A variable that
 * alone is larger than the limit of their size is left out, and the others stay. The limits of the numbers bound the cost
 * of each change, which copies the map.
 */
export const MOST_VARIABLES_SIZE = 65_536;
export const MOST_VARIABLES = 1000;
export const MOST_NODES = 500;

/** Returns the values of a run before its first event. */
export function valuesBefore({ inputs }: Pick<Run, 'inputs'>): RunValues {
  const variables = new Map<string, Variable>();
  for (const [name, value] of Object.entries(inputs)) setVariable(variables, name, value);
  return { variables: withinLimit(variables), nodes: new Map(), cost: undefined };
}

/** Returns the values of a run after an event. */
export function valuesAfter(
  values: RunValues,
  event: Pick<RunEvent, 'type' | 'payload' | 'nodeId' | 'timestamp'>,
): RunValues {
  const { type, nodeId, timestamp } = event;
  const payload = isJsonObject(event.payload) ? event.payload : {};
  if (type === 'variable.changed') return withVariable(values, String(payload.name), payload.next);
  if (type === 'provider.usage') return { ...values, cost: costAfter(values.cost, payload) };
  if (isTerminalEvent(type)) return { ...values, nodes: nodesAtEnd(values.nodes, timestamp) };
  if (nodeId === undefined || !type.startsWith('node.')) return values;
  const state = nodeAfter(values.nodes.get(nodeId), type, payload, timestamp);
  if (state === undefined) return values;
  const nodes = new Map(values.nodes);
  nodes.delete(nodeId);
  nodes.set(nodeId, state);
  for (const oldest of nodes.keys()) {
    if (nodes.size <= MOST_NODES) break;
    nodes.delete(oldest);
  }
  const after = { ...values, nodes };
  return type === 'node.completed' && payload.outputs !== undefined
    ? withVariable(after, nodeId, payload.outputs)
    : after;
}

/** @param value undefined removes the variable */
function withVariable(values: RunValues, name: string, value: Json | undefined): RunValues {
  const variables = new Map(values.variables);
  setVariable(variables, name, value);
  return { ...values, variables: withinLimit(variables) };
}

function setVariable(variables: Map<string, Variable>, name: string, value: Json | undefined): void {
  // A map is sorted by insertion: a changed variable becomes the last one.
  variables.delete(name);
  if (value === undefined) return;
  const size = name.length + JSON.stringify(value).length;
  if (size <= MOST_VARIABLES_SIZE) variables.set(name, { value, size });
}

function withinLimit(variables: Map<string, Variable>): Map<string, Variable> {
  let size = 0;
  for (const variable of variables.values()) size += variable.size;
  for (const [name, oldest] of variables) {
    if (size <= MOST_VARIABLES_SIZE && variables.size <= MOST_VARIABLES) break;
    variables.delete(name);
    size -= oldest.size;
  }
  return variables;
}

function nodeAfter(
  state: NodeState = { status: 'running', attempt: 0 },
  type: string,
  { attempt, typeId, error }: JsonObject,
  timestamp: number,
): NodeState | undefined {
  const status = STATUS_AFTER[type];
  if (status === undefined) return undefined;
  const counted = typeof attempt === 'number' ? attempt : state.attempt;
  if (type === 'node.started') {
    return {
      status,
      attempt: typeof attempt === 'number' ? attempt : 0,
      ...(typeof typeId === 'string' && { typeId }),
      startedAt: timestamp,
    };
  }
  const isEnd = status !== 'running' && status !== 'suspended';
  const errorCode = isJsonObject(error) ? error.code : undefined;
  return {
    ...state,
    status,
    attempt: counted,
    ...(isEnd && { completedAt: timestamp }),
    ...(type === 'node.failed' && typeof errorCode === 'string' && { errorCode }),
  };
}

const STATUS_AFTER: Readonly<Record<string, NodeState['status'] | undefined>> = {
  'node.started': 'running',
  'node.retried': 'running',
  'node.resumed': 'running',
  'node.suspended': 'suspended',
  'node.completed': 'completed',
  'node.failed': 'failed',
  'node.skipped': 'skipped',
  'node.cancelled': 'cancelled',
};

/** The nodes that are open when their run ends end with it. */
function nodesAtEnd(nodes: RunValues['nodes'], timestamp: number): RunValues['nodes'] {
  return new Map(
    [...nodes].map(([nodeId, state]) => {
      const isOpen = state.status === 'running' || state.status === 'suspended';
      return [nodeId, isOpen ? { ...state, status: 'cancelled', completedAt: timestamp } : state];
    }),
  );
}

function costAfter(cost: RunCost | undefined, payload: JsonObject): RunCost {
  const { provider = cost?.provider, model = cost?.model } = payload;
  return {
    usd: (cost?.usd ?? 0) + amountIn(payload.costEstimateUsd),
    inputTokens: (cost?.inputTokens ?? 0) + Math.trunc(amountIn(payload.inputTokens)),
    outputTokens: (cost?.outputTokens ?? 0) + Math.trunc(amountIn(payload.outputTokens)),
    durationMs: (cost?.durationMs ?? 0) + Math.trunc(amountIn(payload.durationMs)),
    ...(typeof provider === 'string' && { provider }),
    ...(typeof model === 'string' && { model }),
  };
}

/** The payload of an engine's event may be anything. */
function amountIn(value: Json | undefined): number {
  return typeof value === 'number' && value > 0 ? value : 0;
}
