import type { Retries } from './retry.ts';
import type { StepContext } from './steps.ts';

/** Undoes a step that has completed. */
export interface Compensation {
  /** The step. */
  readonly name: string;
  /** Rises from the step that completed first to the one that completed last. */
  readonly order: number;
  readonly retries: Retries;
  readonly undo: (context: StepContext) => unknown;
}

/** The compensations of the completed steps of a run, as its workflow declares them in one turn. */
export class Compensations {
  readonly #declared = new Map<string, Compensation>();
  /** Told of each declaration. */
  #heard = (): void => {};

  declare(compensation: Compensation): void {
    this.#declared.set(compensation.name, compensation);
    this.#heard();
  }

  of(name: string): Compensation | undefined {
    return this.#declared.get(name);
  }

  /** The names of the steps, the last one to complete first. */
  inReverse(): readonly string[] {
    return [...this.#declared.values()].sort((one, other) => other.order - one.order).map(({ name }) => name);
  }

  /** Resolves when each of these steps has been declared. */
  async whole(names: readonly string[]): Promise<void> {
    const isWhole = () => names.every((name) => this.#declared.has(name));
    if (isWhole()) return;
    await new Promise<void>((resolve) => {
      this.#heard = () => {
        if (isWhole()) resolve();
      };
    });
  }
}

/** The node that compensates a step. */
export function compensationNode(step: string): string {
  return `${PREFIX}${step}`;
}

const PREFIX = 'compensate:';
/** The longest name of a step with a compensation, whose node has a longer name. */
export const MOST_COMPENSABLE_NAME = 128 - PREFIX.length;
