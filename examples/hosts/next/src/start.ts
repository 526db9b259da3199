import { running } from './host.ts';

/**
 * Takes up unfinished runs, and starts to deliver. Next.js ends the process when it is interrupted, and may not wait for
 * the host: the next start takes up the work that was not finished.
 */
export async function start(): Promise<void> {
  const { host } = running();
  await host.start();
  // The database file was deleted, replaced or damaged, so only a new process can go on.
  void host.lost.then(({ message }) => {
    console.error(message);
    process.exit(1);
  });
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => {
      host.closeStreams();
      void host.stop();
    });
  }
}
