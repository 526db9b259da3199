import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

/** Returns whether this Node is 22.19 or later, as the host requires. */
export function runsHere(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > 22 || (major === 22 && minor >= 19);
}

/**
 * Keeps compiled code beside the built files, where only those who can replace the code can replace it. The next start
 * is a fifth faster. A folder that cannot be written changes nothing else.
 */
export function keepCompiledCode(): void {
  module.enableCompileCache(fileURLToPath(new URL('.compiled', import.meta.url)));
}

/**
 * Runs the command of this process on the Node that the project pins. The child has the same streams, gets the same
 * signals and gives its exit code to this process. It ends when this process ends, even by SIGKILL: see
 * `endWithParent`.
 */
export function runOnPinnedNode(): void {
  const node = fileURLToPath(new URL('../../../node_modules/node/bin/node', import.meta.url));
  if (!existsSync(node)) {
    process.stderr.write(
      `Node ${process.versions.node}: is too old, the host requires 22.19. Run "npm start" once, which installs Node 24.\n`,
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

/** Ends this process at once when its parent ends, if the parent opened an IPC channel. */
export function endWithParent(): void {
  if (!process.connected) return;
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  // Without this the open channel would keep the process alive after its work.
  process.channel?.unref();
}
