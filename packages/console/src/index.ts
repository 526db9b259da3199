export { type Console, type ConsoleOptions, createConsole } from './console.ts';
