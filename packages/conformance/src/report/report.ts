import type { OwnWorkflows } from '../fixtures.ts';
import type { KeyName } from '../keys.ts';
import type { Durations } from '../options.ts';
import type { ProfileName } from '../profile-name.ts';
import type { Major } from '../rule.ts';
import type { Coverage } from './coverage.ts';
import type { Result } from './result.ts';

/** Results of one run of the suite. It contains no key and no secret of a subscription. */
export interface Report {
  /** Version of the form of this report. It grows when a member changes its meaning or goes away. */
  readonly reportVersion: 1;
  /** Version of the suite. */
  readonly suiteVersion: string;
  /** Origin of the host. */
  readonly url: string;
  /** Start of the run, as an RFC 3339 timestamp in UTC. */
  readonly startedAt: string;
  /** Duration of the run, in ms. */
  readonly durationMs: number;
  /** The host, as its discovery document describes it. */
  readonly host: {
    /** `implementation.name`. */
    readonly name: string | undefined;
    /** `implementation.version`. */
    readonly version: string | undefined;
    /** `protocolVersions`; empty when the document has none. */
    readonly protocolVersions: readonly string[];
  };
  /** Number of results by outcome. */
  readonly summary: Readonly<Record<Result['outcome'], number>>;
  /** Profiles that the run was required to look at. */
  readonly profiles: readonly ProfileName[];
  /** The requirements of the run that were not met. A host is shown to conform only when it is empty. */
  readonly missing: readonly Missing[];
  /** Options that decide what was looked at. Keys are named, and never shown. */
  readonly options: ReportOptions;
  /** The part of the suite that the run looked at. */
  readonly coverage: Coverage;
  /** Results in the order of `CHECKS`; a check that ran under both majors has two. */
  readonly results: readonly Result[];
}

/** Options of a run, as far as they decide what it looks at. */
export interface ReportOptions {
  /** Names of the keys that were passed. */
  readonly keys: readonly KeyName[];
  /** The majors that were asked for. Absent: all that the host advertises. */
  readonly majors?: readonly Major[];
  /** The checks and areas that were asked for. Absent: all. */
  readonly only?: readonly string[];
  /** Whether the checks of the profiles alone were run. */
  readonly profilesOnly: boolean;
  /** Workflows that stand in for fixtures. */
  readonly workflows: OwnWorkflows;
  /** Whether a workflow was named that makes artifacts. */
  readonly artifactWorkflow: boolean;
  /** Whether the suite received deliveries. */
  readonly receiver: boolean;
  /** Settings of the host that were passed. */
  readonly durations: Durations;
}

/** A requirement of a run that it did not meet. */
export interface Missing {
  /** Profile that requires it. Absent when every run does. */
  readonly profile?: ProfileName;
  /** Check that was skipped. Absent when the host lacks the major, or the capability of the profile. */
  readonly id?: string;
  /** Major that was not looked at. Absent when no check ran at all. */
  readonly major?: Major;
  /** The reason, as one sentence without a full stop. */
  readonly reason: string;
}
