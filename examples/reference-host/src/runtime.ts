import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Whether this Node has what the host needs: 22.19 or later. */
export function runsHere(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > 22 || (major === 22 && minor >= 19);
}

/**
 * Runs this very command on the Node that the project pins. It stands in for this process: same streams, same exit code, the
 * same signals; and it ends when this process does, a SIGKILL included.
 */
export function runOnPinnedNode(): void {
  const node = fileURLToPath(new URL('../../../node_modules/node/bin/node', import.meta.url));
  if (!existsSync(node)) {
    process.stderr.write(
      `Node ${process.versions.node} is too old for the host: it needs 22.19. Run "npm start" once, which installs it.\n`,
    );
    process.exitCode = 2;
    return;
  }
  const child = spawn(node, process.argv.slice(1), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGKILL' ? 137 : 1);
  });
}

/** Ends this process at once when the one that stands before it is gone. */
export function endWithParent(): void {
  if (!process.connected) return;
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  // The channel alone is no reason to stay.
  process.channel?.unref();
}
