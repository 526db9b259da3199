import { factAboutRun, type RecordAudit } from '../audit/fact.ts';
import { type ByokPlace, isSecretName, sealedForSecret } from '../ports/byok.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import { sealedForRun } from '../ports/opened-secrets.ts';
import { isTerminal } from '../ports/runs.ts';
import type { Transaction } from '../ports/transaction.ts';
import type { SecretBox } from '../sealing/secret-box.ts';
import type { DrivenRun } from './driven-run.ts';
import { Redactor } from './redactor.ts';
import { SHORTEST_SECRET } from './secret-patterns.ts';

export interface RunSecretsParts extends Pick<HostPorts, 'store' | 'clock'> {
  readonly driven: DrivenRun;
  readonly secrets: SecretBox;
  readonly recordAudit: RecordAudit;
}

/** The secrets that a run opens in one turn, and the redactor of these and of the secrets of earlier turns. */
export class RunSecrets {
  readonly redactor: Redactor = new Redactor();
  readonly #parts: RunSecretsParts;
  readonly #opened = new Map<string, Promise<string | undefined>>();
  /** The values that are stored with the run, by a key of name and value. */
  readonly #stored = new Set<string>();
  /** The number of the next value that is stored. */
  #next = 0;

  constructor(parts: RunSecretsParts) {
    this.#parts = parts;
  }

  /**
   * Learns the values that earlier turns opened, so that they stay redacted: also those that were replaced or removed
   * since, because an engine may still have them.
   *
   * @throws {RunLeft} when the store fails
   */
  async know(): Promise<void> {
    const { driven, store, secrets } = this.#parts;
    if (driven.run.usage?.secrets === undefined) return;
    const found = await store.openedSecrets.list(driven.run.runId).catch((error: unknown) => driven.leaveUnread(error));
    for (const opened of found) {
      const value = secrets.open(opened.sealed, sealedForRun(opened));
      this.#stored.add(keyOf(opened.name, value));
      this.#next = opened.number + 1;
      this.redactor.add(opened.name, value);
    }
  }

  /** @see Execution.secret */
  open(name: string): Promise<string | undefined> {
    const opened = this.#opened.get(name) ?? this.#open(name);
    this.#opened.set(name, opened);
    return opened;
  }

  async #open(name: string): Promise<string | undefined> {
    if (typeof name !== 'string') throw new TypeError('secret: name must be text. Pass the name of a secret.');
    // A store may fail at such a name, which would look like a fault of the store.
    if (!isSecretName(name)) return undefined;
    const { driven, clock, recordAudit } = this.#parts;
    for (const place of placesOf(driven.run)) {
      const value = await this.#valueOf(place, name);
      if (value === undefined) continue;
      if (value.length < SHORTEST_SECRET) {
        throw new TypeError(
          `secret: ${name} has fewer than ${SHORTEST_SECRET} characters, so it cannot be redacted. Store a longer one.`,
        );
      }
      // Known before the engine has it, and stored with the run before that: a restart redacts it, too.
      this.redactor.add(name, value);
      const keep = this.#keeping(name, value);
      await driven.change(async ({ run, set, transaction }) => {
        // The engine does not get the value, and nothing would delete what is stored now.
        if (isTerminal(run.status)) return;
        const names = run.usage?.secrets ?? [];
        if (!names.includes(name)) set({ ...run, usage: { ...run.usage, secrets: [...names, name] } });
        await keep(transaction);
        const details = { of: place.workspace === undefined ? 'tenant' : 'workspace' };
        const fact = factAboutRun(run, { action: 'byok.open', target: name, at: clock.now(), details });
        await recordAudit(fact, transaction);
      });
      if (driven.left !== undefined) throw driven.left;
      this.#stored.add(keyOf(name, value));
      return value;
    }
    return undefined;
  }

  /** Returns a function that stores a value with its run. The store may undo the transaction and call it again. */
  #keeping(name: string, value: string): (transaction: Transaction) => Promise<void> {
    if (this.#stored.has(keyOf(name, value))) return async () => {};
    const { driven, store, secrets } = this.#parts;
    const { runId } = driven.run;
    const number = this.#next++;
    const sealed = secrets.seal(value, sealedForRun({ runId, name }));
    return (transaction) => store.openedSecrets.add({ runId, number, name, sealed }, transaction);
  }

  async #valueOf(place: ByokPlace, name: string): Promise<string | undefined> {
    const { store, driven, secrets } = this.#parts;
    const found = await store.byok.find(place, name).catch((error: unknown) => driven.leaveUnread(error));
    return found && secrets.open(found.sealed, sealedForSecret(place, name));
  }
}

function keyOf(name: string, value: string): string {
  return JSON.stringify([name, value]);
}

/** The place of the run's workspace, then that of the whole tenant. */
function placesOf({ tenant, workspace, mode }: ByokPlace): ByokPlace[] {
  return [...(workspace === undefined ? [] : [{ tenant, workspace, mode }]), { tenant, mode }];
}
