import { closeSync, openSync, readSync, statSync } from 'node:fs';

/** The maximum size of a file with a secret. */
const maxBytes = 65_536;

/** The content of a file with a secret, or a sentence that says why it cannot be used. It contains neither content nor path. */
type SecretFile = { readonly value: string } | { readonly problem: string };

/** The variable that names the file with the value of another one. */
export const fileVariable = (name: string): string => `${name}_FILE`;

/** Values of the variables `names` from the files that `NAME_FILE` names, and a sentence for each that cannot be used. */
export function readSecretFiles(input: Readonly<Record<string, string | undefined>>, names: readonly string[]) {
  const values: Record<string, string> = {};
  const problems: string[] = [];
  for (const name of names) {
    const file = readSecretFile(input, name);
    if (file === null) continue;
    if ('problem' in file) problems.push(file.problem);
    else values[name] = file.value;
  }
  return { values, problems };
}

/** Reads the file that `NAME_FILE` names, without the newline at its end; null: the variable is not set. */
export function readSecretFile(input: Readonly<Record<string, string | undefined>>, name: string): SecretFile | null {
  const variable = fileVariable(name);
  const path = input[variable];
  if (path === undefined) return null;
  if (input[name] !== undefined) return { problem: `${name} and ${variable} must not both be set.` };
  try {
    if (!statSync(path).isFile()) return { problem: `${variable} must name a file.` };
    const text = readBounded(path, maxBytes + 1);
    if (text.length > maxBytes) return { problem: `${variable} must name a file of at most 64 KiB.` };
    const value = text.toString('utf8').replace(/\r?\n$/, '');
    return value === '' ? { problem: `${variable} must not name an empty file.` } : { value };
  } catch (error) {
    return { problem: `${variable} names a file that cannot be read (${(error as NodeJS.ErrnoException).code}).` };
  }
}

function readBounded(path: string, bytes: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(bytes);
    return buffer.subarray(0, readSync(file, buffer, 0, bytes, 0));
  } finally {
    closeSync(file);
  }
}
