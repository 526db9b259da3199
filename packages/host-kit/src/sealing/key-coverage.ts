import { systemRandom } from '../ports/random.ts';
import type { SealedRecord } from '../ports/sealed-record.ts';
import { keyIdOf, type SecretBox, secretBox } from './secret-box.ts';

/** The keys that stored secrets need, and those of them that are missing. */
export interface KeyCoverage {
  /** Number of stored secrets. */
  readonly records: number;
  /** Number of stored secrets that no given key opens. */
  readonly unopenable: number;
  /** Ids of the keys that sealed the stored secrets, in hexadecimal. */
  readonly keyIds: readonly string[];
  /** The `keyIds` that no given key has. */
  readonly missingKeyIds: readonly string[];
}

/**
 * Opens every stored secret, and returns the keys that they need. An id identifies a key without revealing it. Secrets
 * of releases before 2.0 name no key and count in `records` and `unopenable` alone.
 *
 * @param keys secret keys, 32 bytes each
 * @throws {TypeError} when a key has another length
 * @example
 * const inspection = await inspectPostgres({ url });
 * const { missingKeyIds } = await keyCoverageOf(inspection.sealedRecords(), [secretKey]);
 */
export async function keyCoverageOf(
  records: Iterable<SealedRecord> | AsyncIterable<SealedRecord>,
  keys: readonly Uint8Array[],
): Promise<KeyCoverage> {
  const count = new Count(keys);
  for await (const record of records) count.add(record);
  return count.coverage();
}

class Count {
  readonly #box: SecretBox | undefined;
  readonly #keyIds = new Set<string>();
  #records = 0;
  #unopenable = 0;

  constructor([key, ...formerKeys]: readonly Uint8Array[]) {
    this.#box = key && secretBox(key, systemRandom, formerKeys);
  }

  add({ sealed, boundTo }: SealedRecord): void {
    this.#records += 1;
    const id = keyIdOf(sealed);
    if (id !== undefined) this.#keyIds.add(id);
    try {
      if (this.#box === undefined) this.#unopenable += 1;
      else this.#box.open(sealed, boundTo);
    } catch {
      this.#unopenable += 1;
    }
  }

  coverage(): KeyCoverage {
    const given: ReadonlySet<string> = new Set(this.#box?.keyIds);
    const keyIds = [...this.#keyIds];
    const missingKeyIds = keyIds.filter((id) => !given.has(id));
    return { records: this.#records, unopenable: this.#unopenable, keyIds, missingKeyIds };
  }
}
