export type {
  ContractChange,
  ContractChild,
  ContractCompensation,
  ContractEcho,
  ContractEffect,
  ContractFailure,
  ContractNodes,
  ContractQuestion,
  ContractRest,
  ContractWorkflow,
  ContractWorkflows,
} from './contract-workflows.ts';
export { engineContract } from './engine-contract.ts';
export type { EngineMeans } from './engine-means.ts';
export type { EngineAssertions, EngineContractOptions } from './options.ts';
