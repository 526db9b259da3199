export { type DbosEngine, dbosEngine } from './dbos-engine.ts';
export type { DbosEngineOptions } from './options.ts';
