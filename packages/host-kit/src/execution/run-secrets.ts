import { factAboutRun, type RecordAudit } from '../audit/fact.ts';
import { type ByokPlace, isSecretName, sealedForSecret } from '../ports/byok.ts';
import type { HostPorts } from '../ports/host-ports.ts';
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

  constructor(parts: RunSecretsParts) {
    this.#parts = parts;
  }

  /**
   * Opens the secrets that earlier turns opened, so that they stay redacted.
   *
   * @throws {RunLeft} when the store fails
   */
  async know(): Promise<void> {
    const { driven } = this.#parts;
    for (const name of driven.run.usage?.secrets ?? []) {
      // An engine may still have the value of either place.
      for (const place of placesOf(driven.run)) {
        const value = await this.#valueOf(place, name);
        if (value !== undefined && value.length >= SHORTEST_SECRET) this.redactor.add(name, value);
      }
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
      // Known before the engine has it, and named in the stored run before that: a restart redacts it, too.
      this.redactor.add(name, value);
      await driven.change(async ({ run, set, transaction }) => {
        const names = run.usage?.secrets ?? [];
        if (!names.includes(name)) set({ ...run, usage: { ...run.usage, secrets: [...names, name] } });
        const details = { of: place.workspace === undefined ? 'tenant' : 'workspace' };
        const fact = factAboutRun(run, { action: 'byok.open', target: name, at: clock.now(), details });
        await recordAudit(fact, transaction);
      });
      if (driven.left !== undefined) throw driven.left;
      return value;
    }
    return undefined;
  }

  async #valueOf(place: ByokPlace, name: string): Promise<string | undefined> {
    const { store, driven, secrets } = this.#parts;
    const found = await store.byok.find(place, name).catch((error: unknown) => driven.leaveUnread(error));
    return found && secrets.open(found.sealed, sealedForSecret(place, name));
  }
}

/** The place of the run's workspace, then that of the whole tenant. */
function placesOf({ tenant, workspace, mode }: ByokPlace): ByokPlace[] {
  return [...(workspace === undefined ? [] : [{ tenant, workspace, mode }]), { tenant, mode }];
}
