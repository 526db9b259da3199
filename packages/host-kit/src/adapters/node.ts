export { type JsonLines, jsonLines } from '../json-lines.ts';
export { type HostServerOptions, hostServer } from './host-server.ts';
export { type Listening, type ListenOptions, listen } from './listen.ts';
export { refuseMalformed, toNodeListener } from './node-listener.ts';
export { type OrderlyStopOptions, orderlyStop } from './orderly-stop.ts';
export { answerParserErrors } from './parser-errors.ts';
export { type SecretKeyFileOptions, secretKeyFile } from './secret-key-file.ts';
