import type { Store } from '../ports/store.ts';
import { accessContract } from './store-contract/access.ts';
import { annotationsContract } from './store-contract/annotations.ts';
import { apiKeysContract } from './store-contract/api-keys.ts';
import { artifactsContract } from './store-contract/artifacts.ts';
import { attemptsContract } from './store-contract/attempts.ts';
import { auditContract } from './store-contract/audit.ts';
import { auditRemovalContract } from './store-contract/audit-removal.ts';
import { backlogContract } from './store-contract/backlog.ts';
import { byokContract } from './store-contract/byok.ts';
import { capturedAnswersContract } from './store-contract/captured-answers.ts';
import type { StoreAssertions, StoreContract } from './store-contract/contract.ts';
import { deadLetterCountsContract } from './store-contract/dead-letter-counts.ts';
import { deliveriesContract } from './store-contract/deliveries.ts';
import { deliverySeriesContract } from './store-contract/delivery-series.ts';
import { effectsContract } from './store-contract/effects.ts';
import { eventsContract } from './store-contract/events.ts';
import { idempotencyContract } from './store-contract/idempotency.ts';
import { interruptsContract } from './store-contract/interrupts.ts';
import { openedSecretsContract } from './store-contract/opened-secrets.ts';
import { portalSessionsContract } from './store-contract/portal-sessions.ts';
import { retentionContract } from './store-contract/retention.ts';
import { runsContract } from './store-contract/runs.ts';
import { sealingKeysContract } from './store-contract/sealing-keys.ts';
import { sourcePlacesContract } from './store-contract/source-places.ts';
import { subscriptionsContract } from './store-contract/subscriptions.ts';
import { transactionsContract } from './store-contract/transactions.ts';
import { triggersContract } from './store-contract/triggers.ts';
import { versionUsesContract } from './store-contract/version-uses.ts';
import { webhookJobsContract } from './store-contract/webhook-jobs.ts';
import { workspaceContract } from './store-contract/workspace.ts';

/** Options of `storeContract`: a test runner, and the store to test. */
export interface StoreContractOptions {
  /** Registers a test, such as `test` of `node:test` or of vitest. */
  readonly test: (title: string, body: () => Promise<void>) => void;
  /** Assertions that throw on failure, such as `node:assert/strict`. */
  readonly assert: StoreAssertions;
  /** Opens an empty store. Called once for each test, which closes the store afterwards. */
  readonly open: () => Promise<Store> | Store;
}

/**
 * Registers the tests of the guarantees that `Store` lists. A store that passes all of them can be passed to
 * `createHost`. They do not test durability: end the process after a commit, and read the store again, in tests of your
 * own.
 *
 * @example
 * import assert from 'node:assert/strict';
 * import { test } from 'node:test';
 * import { storeContract } from '@svc/host-kit/testing';
 *
 * storeContract({ test, assert, open: () => myStore() });
 */
export function storeContract({ test, assert, open }: StoreContractOptions): void {
  for (const part of PARTS) part({ onStore, assert });

  function onStore(title: string, body: (store: Store) => Promise<void>): void {
    test(title, async () => {
      const store = await open();
      try {
        await body(store);
      } finally {
        await store.close();
      }
    });
  }
}

const PARTS: readonly ((contract: StoreContract) => void)[] = [
  transactionsContract,
  runsContract,
  eventsContract,
  interruptsContract,
  annotationsContract,
  artifactsContract,
  effectsContract,
  subscriptionsContract,
  deliveriesContract,
  deadLetterCountsContract,
  backlogContract,
  attemptsContract,
  deliverySeriesContract,
  capturedAnswersContract,
  webhookJobsContract,
  triggersContract,
  sourcePlacesContract,
  auditContract,
  auditRemovalContract,
  portalSessionsContract,
  byokContract,
  openedSecretsContract,
  apiKeysContract,
  accessContract,
  idempotencyContract,
  sealingKeysContract,
  workspaceContract,
  versionUsesContract,
  retentionContract,
];
