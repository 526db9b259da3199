import { env } from 'node:process';
import fc from 'fast-check';

/**
 * Every property gets its values from one seed, so two runs of one commit judge the same values. `SVC_PROPERTY_SEED` is
 * another seed, and `random` a new one for each property: fast-check prints the seed of a property that fails.
 */
const given = env.SVC_PROPERTY_SEED ?? '1';
if (given !== 'random') {
  const seed = Number(given);
  if (!Number.isInteger(seed))
    throw new TypeError('SVC_PROPERTY_SEED: is not a whole number. Set a number, or `random`.');
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
}
