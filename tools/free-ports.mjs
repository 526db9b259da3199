import { createServer } from 'node:net';

/** A port as pages write it: an argument of `listen`, a part of a URL of this machine, the value of a port option. */
const WRITTEN_PORT = /(?<=listen\(|127\.0\.0\.1:|localhost:|port[: ]\s*|PORT=)[1-9][0-9]{3,4}\b/g;

/**
 * Replaces every port that a text names, wherever the number stands, by a free one.
 *
 * @param {string} text
 * @returns {Promise<string>}
 */
export async function withFreePorts(text) {
  const named = [...new Set(text.match(WRITTEN_PORT))];
  if (named.length === 0) return text;
  const free = new Map(await freePorts(named));
  return text.replace(new RegExp(`\\b(?:${named.join('|')})\\b`, 'g'), (port) => free.get(port) ?? port);
}

/** Holds all of them before it releases the first, so that no two are the same. */
async function freePorts(named) {
  const servers = await Promise.all(named.map(listening));
  const ports = servers.map((server, index) => [named[index], String(server.address().port)]);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

function listening() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}
