/**
 * Throws a sentence about a path that is not a directory, or not writable: the variable that names it, and the
 * requirements.
 */
export function refuseDirectory(variable: string, directory: string, error: NodeJS.ErrnoException): never {
  const isFile = error.code === 'EEXIST' || error.code === 'ENOTDIR';
  throw new Error(
    isFile
      ? `${variable} must be a directory, but ${directory} is a file, or in one.`
      : `${variable} must be a directory that this process may write to, or make, but ${directory} is none (${error.code}).`,
    { cause: error },
  );
}
