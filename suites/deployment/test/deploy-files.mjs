import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { DockerfileParser } from 'dockerfile-ast';
import { parseAllDocuments, parse as parseYaml } from 'yaml';

export const CHECKOUT = env.SVC_CHECKOUT;
export const DEPLOY = join(CHECKOUT, 'deploy');

export const textOf = (path) => readFileSync(join(DEPLOY, path), 'utf8');
export const yamlOf = (path) => parseYaml(textOf(path));
export const documentsOf = (path) => parseAllDocuments(textOf(path)).map((document) => document.toJS());
export const jsonOf = (path) => JSON.parse(textOf(path));

/** The configuration that people copy and fill in. */
export const EXAMPLE = jsonOf('host.example.json');

/** The longest stop after `shutdown.drainMs`, as docs/operations.md tells it. */
export const STOP_MS = 10_000;

/** Each instruction of a Dockerfile: its keyword, flags such as `--from=build`, and words. */
export function dockerInstructions(file = 'Dockerfile') {
  return DockerfileParser.parse(textOf(file))
    .getInstructions()
    .map((instruction) => {
      const text = instruction.getArgumentsContent() ?? '';
      const words = instruction.getArguments().map((argument) => argument.getValue());
      const json = /\[.*\]$/s.exec(text)?.[0];
      return {
        keyword: instruction.getKeyword(),
        text,
        flags: (instruction.getFlags?.() ?? []).map((flag) => `--${flag.getName()}=${flag.getValue()}`),
        words,
        exec: json === undefined ? undefined : JSON.parse(json),
      };
    });
}

/** The instructions of the last stage, which becomes the image. */
export function imageInstructions() {
  const all = dockerInstructions();
  return all.slice(all.findLastIndex(({ keyword }) => keyword === 'FROM') + 1);
}

/** The environment of the image. */
export function imageEnvironment() {
  const text = imageInstructions().find(({ keyword }) => keyword === 'ENV').text;
  return Object.fromEntries([...text.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]));
}
