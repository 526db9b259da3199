import { checkUrl, type EgressPolicy } from '@svc/egress-guard';
import { HostError, invalid } from '../errors.ts';
import type { StreamSource, TriggerRecord, TriggerRules } from '../ports/triggers.ts';
import type { ChangeGrants } from './change/grants.ts';
import type { QueueGrants } from './queue/grants.ts';

export interface CheckedRulesOptions {
  readonly queues: QueueGrants;
  readonly changes: ChangeGrants;
  /** The URLs that streams may have. Undefined: the host reads no streams. */
  readonly streamEgress: EgressPolicy | undefined;
  /** Whether the host reads messages of the source `email`. */
  readonly servesEmail: boolean;
}

/**
 * Returns the rules of a source that its tenant may use.
 *
 * @throws {HostError} `forbidden` for a queue or a table that is not granted; `validation_error` for a source that the host does not
 *   serve
 */
export function checkedRules(
  { queues, changes, streamEgress, servesEmail }: CheckedRulesOptions,
  of: Pick<TriggerRecord, 'tenant' | 'mode'>,
  rules: TriggerRules,
): TriggerRules {
  if (rules.source === 'queue' && !queues.allows(of, rules.queue))
    throw new HostError('forbidden', NO_GRANT, { details: undefined });
  if (rules.source === 'email' && !servesEmail) throw invalid(NOT_SERVED);
  if (rules.source === 'change' && !changes.allows(of, rules.change))
    throw new HostError('forbidden', NO_TABLE, { details: undefined });
  return rules.source === 'stream' ? { source: 'stream', stream: checkedStream(rules.stream, streamEgress) } : rules;
}

// The same for a connection or a queue that does not exist: names are not told.
const NO_GRANT = 'queue: is not granted to this tenant and mode. Ask the operator of the host for a grant.';

const NOT_SERVED = { field: 'source', problem: 'must be one that discovery lists in triggerBridge.sources' };
const NO_TABLE = 'change: is not granted to this tenant and mode. Ask the operator of the host for a grant.';

function checkedStream(stream: StreamSource, egress: EgressPolicy | undefined): StreamSource {
  if (egress === undefined) throw invalid(NOT_SERVED);
  const checked = checkUrl(stream.url, egress);
  if (!checked.ok) throw invalid({ field: 'stream.url', problem: `is not allowed (${checked.reason})` });
  return { ...stream, url: checked.url.href };
}
