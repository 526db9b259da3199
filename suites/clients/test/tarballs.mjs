import { join } from 'node:path';
import { env } from 'node:process';
import { pathToFileURL } from 'node:url';

/** Unpacks the tarballs of the packages into `node_modules/@svc` of a folder. */
export async function unpackAll(folder) {
  const tool = pathToFileURL(join(env.SVC_CHECKOUT, 'tools/package-consumer.mjs')).href;
  const consumer = await import(tool);
  await consumer.unpackAll(env.SVC_TARBALLS, folder);
}
