import type { FilterCondition, FilterValue, ListFilter } from './list-filter.ts';
import type { PolicyResource } from './port.ts';

/**
 * Returns whether a resource meets a filter. For a list in memory, and to test the translation of a filter into a query.
 *
 * @throws {TypeError} when the filter has another form, or is nested more than 32 deep
 * @example
 * matchesFilter({ kind: 'where', condition: { field: 'workspace', in: ['acme-prod'] } }, run);
 */
export function matchesFilter(filter: ListFilter, resource: PolicyResource): boolean {
  if (filter.kind === 'none') return false;
  return filter.kind === 'all' || meets(checkedCondition(filter.condition), resource);
}

/** Returns the condition that both filters set. */
export function bothFilters(one: ListFilter, other: ListFilter): ListFilter {
  if (one.kind === 'none' || other.kind === 'none') return NOTHING;
  if (one.kind === 'all') return other;
  if (other.kind === 'all') return one;
  return { kind: 'where', condition: { all: [one.condition, other.condition] } };
}

/**
 * Checks a filter, which may come from foreign code. Returns a copy with its known members alone.
 *
 * @throws {TypeError} when the filter has another form, or is nested more than 32 deep
 */
export function checkedFilter(filter: unknown): ListFilter {
  const { kind, condition } = Object(filter);
  if (kind === 'all') return { kind };
  if (kind === 'none') return NOTHING;
  if (kind === 'where') return { kind, condition: checkedCondition(condition) };
  throw new TypeError('filter: kind must be all, none or where. Correct the policy engine.');
}

const NOTHING: ListFilter = { kind: 'none' };
const DEEPEST = 32;

function checkedCondition(condition: unknown, depth = 0): FilterCondition {
  if (depth > DEEPEST) throw new TypeError(`filter: is nested more than ${DEEPEST} deep. Simplify the policy.`);
  const inner = (part: unknown) => checkedCondition(part, depth + 1);
  const { field, in: values, all, any, not, ...rest } = Object(condition);
  const parts = [field ?? values, all, any, not].filter((part) => part !== undefined);
  if (parts.length === 1 && Object.keys(rest).length === 0) {
    if (typeof field === 'string' && Array.isArray(values) && values.every(isValue)) return { field, in: [...values] };
    if (Array.isArray(all)) return { all: all.map(inner) };
    if (Array.isArray(any)) return { any: any.map(inner) };
    if (not !== undefined) return { not: inner(not) };
  }
  throw new TypeError(
    'filter: a condition must be { field, in }, { all }, { any } or { not }. Correct the policy engine.',
  );
}

function isValue(value: unknown): value is FilterValue {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

function meets(condition: FilterCondition, resource: PolicyResource): boolean {
  if ('all' in condition) return condition.all.every((part) => meets(part, resource));
  if ('any' in condition) return condition.any.some((part) => meets(part, resource));
  if ('not' in condition) return !meets(condition.not, resource);
  const value = fieldOf(condition.field, resource);
  return condition.in.some((wanted) => wanted === value);
}

function fieldOf(field: string, { id, workspace, attributes = {} }: PolicyResource): unknown {
  if (field === 'id') return id;
  if (field === 'workspace') return workspace;
  return Object.hasOwn(attributes, field) ? attributes[field] : undefined;
}
