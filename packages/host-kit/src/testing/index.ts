export { type StoreContractOptions, storeContract } from './store-contract.ts';
