import { covers } from '@svc/tools/covers';
import { startPostgres } from '@svc/tools/postgres';
import { afterAll, describe, expect, test } from 'vitest';
import { postgresStore } from '../../src/stores/postgres/index.ts';
import { storeContract } from '../../src/testing/store-contract.ts';

const postgres = await startPostgres();
afterAll(() => postgres.stop());

let stores = 0;

describe(`the postgres store: ${covers('auth.tenancy.in-the-query')}`, () => {
  storeContract({
    test,
    open: () => postgresStore({ url: postgres.url, schema: `store_${stores++}`, connections: 4 }),
    assert: {
      deepEqual: (actual, expected) => expect(actual).toEqual(expected),
      rejects: (promise) => expect(promise).rejects.toThrow(),
    },
  });
});
