import { type Executor, executor } from '../execution/executor.ts';
import { eventLog, type RunLog } from '../runs/event-log.ts';
import { type Followers, followers } from '../streams/follow.ts';
import { outsideTrace } from '../telemetry/spans.ts';
import type { Dispatcher } from '../webhooks/dispatcher.ts';
import { outbox } from '../webhooks/outbox.ts';
import type { PushFormats } from '../webhooks/push-format.ts';
import { renderDelivery } from '../wire/delivery.ts';
import type { Services } from './services.ts';

/** Where runs are driven, and where all that happens to them is written down. */
export interface ExecutionParts {
  readonly events: RunLog;
  readonly executor: Executor;
  readonly followers: Followers;
}

/** @param formats may be filled as long as the host has not started */
export function assembleExecution(
  { store, clock, random, log, engine, observe }: Services,
  dispatcher: Pick<Dispatcher, 'wake'>,
  formats: PushFormats,
): ExecutionParts {
  const following = followers({ store, clock, log });
  const events = eventLog({
    store,
    clock,
    random,
    outbox: outbox({ store, clock, random, render: renderDelivery, formats }),
    appended(event) {
      observe.appended(event);
      outsideTrace(dispatcher.wake);
      following.appended(event);
      execute.heard(event);
    },
  });
  const execute = executor({ engine, store, clock, random, events, log });
  return { events, executor: execute, followers: following };
}
