import { systemClock, systemRandom, type WorkflowEngine, wrapEngine } from '@svc/host-kit';
import { Cluster } from './cluster.ts';
import { checkedOptions, type RestateEngineOptions } from './options.ts';
import { turnInRestate } from './turn-in-restate.ts';
import { TurnService } from './turn-service.ts';

/** An engine on Restate, with the port on which Restate calls it. */
export interface RestateEngine extends WorkflowEngine {
  /** The port on which the process serves its handler. */
  readonly port: number;
  /** Takes the handler of this process out of Restate, and frees the port. Call it after the host has stopped. A second call does nothing. */
  close(): Promise<void>;
}

/**
 * Serves a handler for Restate, registers it there, and returns an engine whose runs Restate executes. Each call of `execute` is an
 * invocation with the idempotency key `<runId>:<epoch>:<number of recorded events>:<random>`, and each node is a step of it. The
 * log of the run stays the record from which a run goes on; Restate gets names, numbers and outcomes, and no value of a run.
 *
 * Each process has an address of its own, because Restate calls a turn in the process that holds the lease of its run.
 *
 * @throws {TypeError} for an option outside of its range
 * @throws {Error} when the port is taken, Restate does not answer, and Restate cannot call the handler
 * @example
 * const engine = await restateEngine({
 *   engine: stepsEngine({ workflows: [publish] }),
 *   ingressUrl: 'http://127.0.0.1:8080',
 *   adminUrl: 'http://127.0.0.1:9070',
 *   port: 9080,
 * });
 * const host = createHost({ engine, store, ...others });
 * // At the end of the process:
 * await host.stop(5000);
 * await engine.close();
 */
export async function restateEngine(options: RestateEngineOptions): Promise<RestateEngine> {
  const checked = checkedOptions(options);
  const { engine, clock = systemClock, random = systemRandom, log = () => {}, host, port: wanted } = checked;
  const service = new TurnService();
  const port = await service.listen(host, wanted);
  const handlerUrl = checked.handlerUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const name = nameOf(handlerUrl);
  const fetch = checked.fetch ?? globalThis.fetch;
  const cluster = new Cluster({ ...checked, handlerUrl, service: name, fetch, clock, log });
  try {
    service.serve({ ...checked, name, log });
    await cluster.register();
  } catch (error) {
    await service.close();
    throw error;
  }
  let closing: Promise<void> | undefined;

  return {
    ...wrapEngine(engine, {
      async execute(run, execution) {
        if (closing !== undefined) throw new Error('restateEngine: is closed. Open another engine.');
        return turnInRestate({ run, execution, engine, cluster, service, clock, random });
      },
    }),
    port,
    close() {
      closing ??= cluster.remove().then(() => service.close());
      return closing;
    },
  };
}

/** The name of the service of a process in Restate. Two processes never have the same, because each has its own address. */
function nameOf(handlerUrl: string): string {
  const { host, pathname } = new URL(handlerUrl);
  return `svc.turns.${`${host}${pathname}`.replace(/[^A-Za-z0-9._]+/g, '-').replace(/^-|-$/g, '')}`;
}
