import { running } from './host.ts';

/** Takes up unfinished runs, starts to deliver, and stops the host with the server. */
export async function start(): Promise<void> {
  const { host } = running();
  await host.start();
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => {
      host.closeStreams();
      void host.stop();
    });
  }
}
