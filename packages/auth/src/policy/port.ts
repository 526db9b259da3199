import type { Principal } from '../principal.ts';
import type { ListFilter } from './list-filter.ts';

/** A resource as policies see it. */
export interface PolicyResource {
  /** The kind, e.g. `run`. */
  readonly kind: string;
  /** The id within its kind and tenant. */
  readonly id: string;
  /** The tenant of the resource. */
  readonly tenant: string;
  /** The workspace of the resource. Undefined for a resource of the whole tenant. */
  readonly workspace?: string | undefined;
  /** Further attributes, as the store has them. Default: none. */
  readonly attributes?: Readonly<Record<string, unknown>>;
}

/** A question: may this caller do this to that resource? */
export interface PolicyQuestion {
  /** The caller. */
  readonly principal: Principal;
  /** The name of the operation, e.g. `runs.cancel`. */
  readonly action: string;
  /** The resource. */
  readonly resource: PolicyResource;
  /** Facts about the request, e.g. the time or the network. Default: none. */
  readonly context?: Readonly<Record<string, unknown>>;
}

/** A question about a list: which resources of a kind may this caller do this to? */
export interface ListQuestion extends Omit<PolicyQuestion, 'resource'> {
  /** The kind of the resources. */
  readonly kind: string;
}

/** The answer to one question. */
export interface PolicyAnswer {
  /** Only `true` allows. */
  readonly allowed: boolean;
  /** The rules that decided, for the log of the operator: ids or short words, never content of the request. */
  readonly reasons: readonly string[];
}

/**
 * A policy engine. `rolePolicy` is one; Cerbos, Cedar or OPA are others. Ask it through `policyDecider`, which keeps the
 * tenants apart and refuses when the engine fails.
 */
export interface PolicyEngine {
  /** Answers questions, in their order: one answer for each. */
  answer(questions: readonly PolicyQuestion[]): Promise<readonly PolicyAnswer[]> | readonly PolicyAnswer[];
  /** Returns the condition that the allowed resources of a kind meet. */
  filter(question: ListQuestion): Promise<ListFilter> | ListFilter;
}
