// Loaded before a program that runs in place of another process. When that process ends, by SIGKILL too, this ends the
// program and everything that it started. It does nothing in other processes that inherit the option and the
// environment.
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
