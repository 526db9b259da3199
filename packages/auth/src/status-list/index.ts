export type { StatusIssuer, StatusJudge, StatusLists, StatusListsOptions } from './status-lists.ts';
export { statusLists } from './status-lists.ts';
