/** The path of the directory that a path is in; '' for the workspace. */
export const parentOf = (path: string): string => (path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '');

/** The last name of a path. */
export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** The directories from the workspace to a path, with the path itself; the first is the workspace. */
export function ancestorsOf(path: string): readonly { readonly name: string; readonly path: string }[] {
  const names = path === '' ? [] : path.split('/');
  return [
    { name: 'workspace', path: '' },
    ...names.map((name, index) => ({ name, path: names.slice(0, index + 1).join('/') })),
  ];
}

/** A size in bytes for people. */
export function writeSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  const [unit, divisor] = bytes < 1_000_000 ? ['kB', 1e3] : bytes < 1e9 ? ['MB', 1e6] : ['GB', 1e9];
  return `${(bytes / Number(divisor)).toLocaleString('en', { maximumFractionDigits: 1 })} ${unit}`;
}
