import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, yieldToLoop } from '../../ports/clock.ts';
import type { ContractWorkflow } from './contract-workflows.ts';
import { HandClock } from './hand-clock.ts';
import { HostProcess } from './host-process.ts';
import type { EngineContractOptions } from './options.ts';
import type { OutsideCall, Surroundings } from './surroundings.ts';
import type { Cut } from './watched-engine.ts';

/** The surroundings of one test: a database file, a clock, and a service that runs call. Processes begin and end in it. */
export class World implements Surroundings {
  readonly clock = new HandClock();
  /** The calls that the outside got, with their idempotency keys. */
  readonly calls: OutsideCall[] = [];
  readonly #options: EngineContractOptions;
  readonly #folder = mkdtempSync(join(tmpdir(), 'svc-engine-'));
  readonly #patienceMs: number;
  readonly #processes: HostProcess[] = [];

  constructor(options: EngineContractOptions) {
    this.#options = options;
    this.#patienceMs = options.patienceMs ?? 10_000;
  }

  /**
   * Starts a host on the database file, with an engine of its own.
   *
   * @param process.cuts whether runs are cut where their metadata says; default false
   * @param process.open opens another engine than that of the options
   */
  async boot(process: { readonly cuts?: boolean; readonly open?: EngineContractOptions['open'] } = {}) {
    const { open, close = async () => {} } = this.#options;
    const clock = this.clock.forProcess();
    const engine = await (process.open ?? open)({ clock });
    const path = join(this.#folder, 'svc.db');
    const parts = { engine, clock, cuts: process.cuts === true, path, world: this };
    const host = new HostProcess({ ...parts, closeEngine: () => close(engine) });
    this.#processes.push(host);
    await host.start();
    return host;
  }

  /** Moves the clock, and lets everything settle that follows. */
  async pass(ms: number): Promise<void> {
    await this.clock.move(ms, settle);
    await settle();
  }

  /**
   * Waits until `find` resolves with a value.
   *
   * @throws {Error} after the patience of the contract
   */
  async until<T>(wanted: string, find: () => Promise<T | undefined> | T | undefined): Promise<T> {
    const end = systemClock.monotonic() + this.#patienceMs;
    for (let turns = 0; ; turns++) {
      const found = await find();
      if (found !== undefined) return found;
      if (systemClock.monotonic() > end) throw new Error(`${wanted}: did not happen within ${this.#patienceMs} ms.`);
      await (turns < EAGER_TURNS ? yieldToLoop() : shortRest());
    }
  }

  /**
   * Drives runs in a process that is killed when all of them have come to their cuts, one cut before and one after each
   * call, and then in a second process.
   *
   * @param workflowOf returns the workflow of a run, by its number
   * @param drive drives runs as far as they come
   * @returns the ids of the runs with their cuts, and the second process
   */
  async cutEverywhere(
    workflowOf: (index: number) => ContractWorkflow,
    drive: (process: HostProcess, runIds: readonly string[]) => Promise<void>,
  ): Promise<{ readonly second: HostProcess; readonly cuts: readonly (Cut & { readonly runId: string })[] }> {
    const first = await this.boot({ cuts: true });
    const whole = workflowOf(0);
    const undisturbed = await first.create(whole.workflowId, whole.inputs);
    await drive(first, [undisturbed]);
    await first.ends(undisturbed);
    const calls = first.watched.callsOf(undisturbed);
    const cuts: (Cut & { readonly runId: string })[] = [];
    for (let index = 0; index < 2 * calls; index++) {
      const cut: Cut = { at: Math.floor(index / 2), when: index % 2 === 0 ? 'before' : 'after' };
      const { workflowId, inputs } = workflowOf(index + 1);
      cuts.push({ ...cut, runId: await first.create(workflowId, inputs, { metadata: { cut: { ...cut } } }) });
    }
    const runIds = cuts.map(({ runId }) => runId);
    await drive(first, runIds);
    await first.kill();
    const second = await this.boot();
    await drive(second, runIds);
    return { second, cuts };
  }

  /** Ends what is left, and removes the database file. */
  async end(): Promise<void> {
    for (const process of this.#processes) await process.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Lets everything go on that needs no time. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await yieldToLoop();
}

/** Rests for a moment of the machine: an engine may wait for another process. */
function shortRest(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}

const TURNS = 20;
const EAGER_TURNS = 100;
