/**
 * Throws a sentence about a path that is not a directory, or not writable: the variable that names it, and the
 * requirements.
 */
export function refuseDirectory(variable: string, directory: string, error: NodeJS.ErrnoException): never {
  // The owner of a volume may be another user than that of a container.
  const writer = process.getuid ? `this process (user ${process.getuid()})` : 'this process';
  const isFile = error.code === 'EEXIST' || error.code === 'ENOTDIR';
  throw new Error(
    isFile
      ? `${variable} must be a directory, but ${directory} is a file, or in one.`
      : `${variable} must be a directory that ${writer} may write to, or make, but ${directory} is none (${error.code}).`,
    { cause: error },
  );
}
