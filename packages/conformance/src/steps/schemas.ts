import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { z } from 'zod';
import type { Need } from '../check.ts';
import { body } from '../expect.ts';
import { Mismatch } from '../mismatch.ts';
import { mountPath } from '../target.ts';
import type { World } from '../world.ts';

/** Requires a host that publishes its schemas: `extensions` of discovery has `<org>.schemas` with a path. */
export const publishedSchemas: Need = (target, major) =>
  mountPath(target, major, 'schemas') === undefined ? 'extensions of the host do not name <org>.schemas' : undefined;

/**
 * Reads the delivery schema of the check's major from the host, and compiles it with strict settings.
 *
 * @returns a function that returns one sentence for each problem of a delivery
 * @throws {Mismatch} when the host does not serve it, or serves one that a strict validator rejects
 */
export async function deliverySchema(world: World): Promise<(delivery: unknown) => readonly string[]> {
  const { major, target } = world;
  const path = `${mountPath(target, major, 'schemas')}/v${major}/webhook-delivery.schema.json`;
  const answer = await world.as('nobody').exactly({ target: path });
  const schema = body(answer, 200, z.looseObject({ $id: z.string().includes(`/spec/v${major}/`) }));
  const ajv = new Ajv2020({ strict: true, allErrors: true });
  addFormats.default(ajv);
  try {
    const validate = ajv.compile(schema);
    return (delivery) => (validate(delivery) ? [] : [ajv.errorsText(validate.errors, { dataVar: 'delivery' })]);
  } catch (error) {
    throw new Mismatch('a schema that a strict validator compiles', String(error), answer);
  }
}
