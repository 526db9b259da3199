export { type CreateOptions, createProject, type Terminal } from './create-project.ts';
