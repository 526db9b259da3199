export type { PolicyDecider, PolicyDeciderOptions, PolicyDecision, PolicyExplanation } from './decider.ts';
export { policyDecider } from './decider.ts';
export { matchesFilter } from './filter.ts';
export type { FilterCondition, FilterValue, ListFilter } from './list-filter.ts';
export type { ListQuestion, PolicyAnswer, PolicyEngine, PolicyQuestion, PolicyResource } from './port.ts';
export type { RolePolicyOptions } from './role-policy.ts';
export { rolePolicy } from './role-policy.ts';
