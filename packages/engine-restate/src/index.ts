export type { RestateEngineOptions } from './options.ts';
export { type RestateEngine, restateEngine } from './restate-engine.ts';
