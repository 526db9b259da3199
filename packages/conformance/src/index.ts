export {
  type BundleSignature,
  type BundleSigner,
  type CertificationBundle,
  certificationBundle,
} from './certification/bundle.ts';
export {
  type BundleKey,
  type CertificationFault,
  type CertificationVerdict,
  verifyCertificationBundle,
} from './certification/verify.ts';
export type { Check } from './check.ts';
export { FIXTURES, type Fixture, type FixtureName, type OwnWorkflow, type OwnWorkflows } from './fixtures.ts';
export type { Caller, KeyName } from './keys.ts';
export { type ConformanceOptions, type Durations, type ReceiverOptions, UsageError } from './options.ts';
export type { ProfileName } from './profile-name.ts';
export { PROFILES, type Profile } from './profiles.ts';
export { CHECKS } from './published-checks.ts';
export { annotationsReport } from './report/annotations.ts';
export { badgeReport } from './report/badge.ts';
export type { Coverage, Share, SourceShare } from './report/coverage.ts';
export { htmlReport } from './report/html.ts';
export { junitReport } from './report/junit.ts';
export type { Missing, Report, ReportOptions } from './report/report.ts';
export type { Failure, Result } from './report/result.ts';
export { type TextOptions, textReport } from './report/text.ts';
export type { Major, Rule, RuleSource } from './rule.ts';
export type { SkipCause } from './skip-cause.ts';
export { runConformance } from './suite.ts';
export { Unreachable } from './target.ts';
