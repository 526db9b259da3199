export type { Check, Major, Rule } from './check.ts';
export { CHECKS } from './checks/index.ts';
export type { Caller, KeyName } from './keys.ts';
export { type ConformanceOptions, type Durations, type ReceiverOptions, UsageError } from './options.ts';
export { junitReport } from './report/junit.ts';
export type { Failure, Report, Result } from './report/report.ts';
export { type TextOptions, textReport } from './report/text.ts';
export { runConformance } from './suite.ts';
export { Unreachable } from './target.ts';
