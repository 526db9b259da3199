export type { StoreAssertions } from './store-contract/contract.ts';
export { type StoreContractOptions, storeContract } from './store-contract.ts';
