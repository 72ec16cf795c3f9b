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
