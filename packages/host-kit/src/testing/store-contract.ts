import type { Store } from '../ports/store.ts';
import { artifactsContract } from './store-contract/artifacts.ts';
import { attemptsContract } from './store-contract/attempts.ts';
import { auditContract } from './store-contract/audit.ts';
import { backlogContract } from './store-contract/backlog.ts';
import { byokContract } from './store-contract/byok.ts';
import type { StoreAssertions, StoreContract } from './store-contract/contract.ts';
import { deliveriesContract } from './store-contract/deliveries.ts';
import { eventsContract } from './store-contract/events.ts';
import { idempotencyContract } from './store-contract/idempotency.ts';
import { interruptsContract } from './store-contract/interrupts.ts';
import { runsContract } from './store-contract/runs.ts';
import { subscriptionsContract } from './store-contract/subscriptions.ts';
import { transactionsContract } from './store-contract/transactions.ts';
import { workspaceContract } from './store-contract/workspace.ts';

/** The parts of a test runner that the contract is written against; `node:test` and vitest both fit. */
export interface StoreContractOptions {
  readonly test: (title: string, body: () => Promise<void>) => void;
  readonly assert: StoreAssertions;
  /** Opens a store with nothing in it. */
  readonly open: () => Promise<Store> | Store;
}

/** What every store must do. A store that passes can stand behind a host. */
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
  artifactsContract,
  subscriptionsContract,
  deliveriesContract,
  backlogContract,
  attemptsContract,
  auditContract,
  byokContract,
  idempotencyContract,
  workspaceContract,
];
