// Loaded ahead of a program that stands in for another process: when that process is gone, a SIGKILL included, the program and
// everything that it started end too. Processes that inherit the option and the environment are left alone.
import { Socket } from 'node:net';
import { isMainThread } from 'node:worker_threads';

const LIFELINE = 3;

if (isMainThread && process.env.SVC_STANDS_IN_FOR === String(process.ppid)) {
  delete process.env.SVC_STANDS_IN_FOR;
  const group = process.platform === 'win32' ? process.pid : -process.pid;
  new Socket({ fd: LIFELINE }).unref().on('error', end).on('close', end).resume();

  function end() {
    process.kill(group, 'SIGKILL');
  }
}
