import { createServer } from 'node:net';

/** A port as pages write it: an argument of `listen`, a part of a URL of this machine, the value of a port option. */
const WRITTEN_PORT = /(?<=listen\(|127\.0\.0\.1:|localhost:|port[: ]\s*|PORT=)[1-9][0-9]{3,4}\b/g;

/**
 * Gives every port that a text names a free port in its place, the same wherever the same port is named.
 *
 * @param {string} text
 * @returns {Promise<string>}
 */
export async function withFreePorts(text) {
  const named = [...new Set(text.match(WRITTEN_PORT))];
  const free = new Map(await freePorts(named));
  return text.replace(WRITTEN_PORT, (port) => free.get(port) ?? port);
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
