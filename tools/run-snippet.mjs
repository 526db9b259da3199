/**
 * Runs the program of a page in a process of its own: `node tools/run-snippet.mjs FILE`. A program that listens on ports
 * is ended, with success, as soon as it listens on all of them.
 */
import { once } from 'node:events';
import { Server } from 'node:net';
import { argv, exit } from 'node:process';
import { pathToFileURL } from 'node:url';

const listening = [];
const { listen } = Server.prototype;
Server.prototype.listen = function listenAndNote(...args) {
  listening.push(once(this, 'listening'));
  return Reflect.apply(listen, this, args);
};

await import(pathToFileURL(argv[2] ?? '').href);
if (listening.length > 0) {
  await Promise.all(listening);
  exit();
}
