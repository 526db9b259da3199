import { fork } from 'node:child_process';
import { once } from 'node:events';

/**
 * Starts a host in another process, on the store at `options.place`.
 *
 * @param nodeOptions command-line options of its Node
 */
export async function startHostProcess(options, nodeOptions = []) {
  const program = new URL('./host-process.mjs', import.meta.url);
  const child = fork(program, [JSON.stringify(options)], { execArgv: [...process.execArgv, ...nodeOptions] });
  const gone = once(child, 'exit').then(([code]) => Promise.reject(new Error(`A host exited with code ${code}.`)));
  gone.catch(() => {});
  const said = async () => {
    const [answer] = await Promise.race([once(child, 'message'), gone]);
    return answer;
  };
  const tell = async (command, rest = {}) => {
    child.send({ command, ...rest });
    return said();
  };
  await said();
  return {
    append: (runs, events) => tell('append', { runs, events }),
    memory: () => tell('memory'),
    async stop() {
      await tell('stop');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}
