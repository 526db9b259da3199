import { freePort } from './free-port.ts';

/** A port as pages write it: an argument of `listen`, a part of a URL of this machine, the value of a port option. */
const WRITTEN_PORT = /(?<=listen\((?:host, )?|127\.0\.0\.1:|localhost:|port[: ]\s*|PORT=)[1-9][0-9]{3,4}\b/g;

/**
 * Replaces every port that a text names, wherever the number stands, by a free one.
 *
 * @param {string} text
 * @returns {Promise<string>}
 */
export async function withFreePorts(text) {
  const named = [...new Set(text.match(WRITTEN_PORT))];
  if (named.length === 0) return text;
  const free = new Map();
  for (const port of named) free.set(port, String(await freePort()));
  return text.replace(new RegExp(`\\b(?:${named.join('|')})\\b`, 'g'), (port) => free.get(port) ?? port);
}
