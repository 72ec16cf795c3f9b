// The public interface of this folder, described in README.md. It imports no other code of the project, so that it
// could be a package.
export type { CompiledOperation } from './compile.ts';
export { compileOperation } from './compile.ts';
export { createCompiler, findConditions } from './conditions.ts';
export type { RequestedField } from './read-ahead.ts';
export { beneath, readingAhead } from './read-ahead.ts';
export type { Run } from './run.ts';
