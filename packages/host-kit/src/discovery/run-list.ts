import type { Facets } from './families.ts';

/** How runs are listed in major 2: filters that are not named here are not looked at. */
export const RUN_LIST: NonNullable<Facets['runList']> = { maxPageSize: 100, filters: ['workflowId', 'status'] };
