import { stepsEngine } from '@svc/host-kit/engine/steps';

/**
 * The engines that the benchmark compares, by name. A candidate is one entry:
 *
 * - `store`: the kind of the store of its host;
 * - `start`, if it needs a server of its own: starts it, and resolves with `{ place, memoryMb, stop }`. `place` is passed
 *   to `open`, so it must be JSON;
 * - `open`: opens it in the process of the host, for workflows of `stepsEngine`.
 */
export const CANDIDATES = {
  'steps on SQLite': {
    store: 'SQLite',
    open: ({ workflows }) => ({ engine: stepsEngine({ workflows }), close() {} }),
  },
  'steps on PostgreSQL': {
    store: 'PostgreSQL',
    open: ({ workflows }) => ({ engine: stepsEngine({ workflows }), close() {} }),
  },
  'DBOS on PostgreSQL': {
    store: 'PostgreSQL',
    async open({ workflows, place: { url, schema } }) {
      const { dbosEngine } = await import('@svc/engine-dbos');
      const engine = await dbosEngine({
        ...{ engine: stepsEngine({ workflows }), databaseUrl: url, schema: `dbos_${schema}` },
      });
      return { engine, close: () => engine.close() };
    },
  },
};
