/** The engines that `npm start` knows. */
export type ChosenEngine = 'steps' | 'dbos';

/**
 * Reads the arguments of `npm start`: none, or `--engine steps` or `--engine dbos`.
 *
 * @returns undefined for other arguments
 */
export function chosenEngine(args: readonly string[]): ChosenEngine | undefined {
  const [option = '--engine', engine = 'steps', ...others] = args;
  if (option !== '--engine' || others.length > 0 || args.length === 1) return undefined;
  return engine === 'steps' || engine === 'dbos' ? engine : undefined;
}
