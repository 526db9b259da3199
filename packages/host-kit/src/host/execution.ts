import { type Executor, executor } from '../execution/executor.ts';
import { type RunFamilies, runFamilies } from '../execution/run-families.ts';
import { eventLog, type RunLog } from '../runs/event-log.ts';
import { type Followers, followers } from '../streams/follow.ts';
import { outsideTrace } from '../telemetry/spans.ts';
import type { Dispatcher } from '../webhooks/dispatcher.ts';
import { outbox } from '../webhooks/outbox.ts';
import type { PushFormats } from '../webhooks/push-format.ts';
import { type TellUnheard, tellUnheard } from '../webhooks/unheard-runs.ts';
import { renderDelivery } from '../wire/delivery.ts';
import type { Services } from './services.ts';

/** The parts of a host that drive runs and record their events. */
export interface ExecutionParts {
  readonly events: RunLog;
  readonly executor: Executor;
  readonly families: RunFamilies;
  readonly followers: Followers;
  /** Is told of each new run that is not a fork. */
  readonly tellUnheard: TellUnheard;
}

/** @param formats the push formats by name; they may be added until the host starts */
export function assembleExecution(
  services: Services,
  dispatcher: Pick<Dispatcher, 'handOver'>,
  formats: PushFormats,
): ExecutionParts {
  const { store, clock, storeClock, random, log, engine, observe, workspaceFiles } = services;
  const { secrets, recordAudit, runLimits: limits, runFetch: fetch, approvers } = services;
  const reach = { limits, secrets, recordAudit, workspaceFiles, fetch, approvers };
  const following = followers({ store, clock, log });
  const events = eventLog({
    store,
    clock,
    random,
    servesFiles: workspaceFiles !== undefined,
    outbox: outbox({ store, storeClock, render: renderDelivery, formats, handOver: dispatcher.handOver }),
    transactions: {
      committed: (transaction) => outsideTrace(() => dispatcher.handOver.committed(transaction)),
      failed: (transaction) => outsideTrace(() => dispatcher.handOver.failed(transaction)),
    },
    appended(event) {
      observe.appended(event);
      outsideTrace(() => dispatcher.handOver.appended(event));
      following.appended(event);
      execute.onAppended(event);
      families.onAppended(event);
    },
  });
  const families = runFamilies({ log, services: () => ({ store, clock, events, executor: execute }) });
  const execute = executor({ engine, store, clock, random, events, log, reach, families });
  return { events, executor: execute, families, followers: following, tellUnheard: tellUnheard(services) };
}
