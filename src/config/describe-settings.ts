import { parseUrl } from '../common/parse-url.ts';
import { fileVariable, readSecretFile } from './secret-files.ts';
import { secretNames, settingNames } from './variables.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that may hold a secret, of this service or of anything else; `TOKENS_PER_…` are numbers. */
const secretName = /key|token(?!s_per_)|secret|passw|credential|auth|cookie|dsn/i;

/**
 * Returns the settings that are given, for reports: secrets are replaced by a note, and addresses lose their user, password and
 * query.
 */
export function describeSettings(environment: Environment): Record<string, string> {
  const settings = settingNames.flatMap((name): [string, string][] => {
    const value = environment[name];
    if (secretNames.includes(name) && environment[fileVariable(name)]) return [[name, '(secret, from a file)']];
    if (value === undefined || value === '') return [];
    return [[name, secretNames.includes(name) ? '(secret)' : withoutCredentials(value)]];
  });
  return Object.fromEntries(settings);
}

/** Returns every value of the environment that may be a secret, for a mask: those of files, and passwords in addresses too. */
export function findSecretValues(environment: Environment): string[] {
  const values = Object.entries(environment).flatMap(([name, value]) => {
    if (value === undefined || value === '') return [];
    const base = name.replace(/_FILE$/, '');
    if (!mayBeSecret(base)) return passwordsOf(value);
    const file = base === name ? { value } : readSecretFile({ [name]: value }, base);
    return file !== null && 'value' in file ? [file.value, ...passwordsOf(file.value)] : [];
  });
  return [...new Set(values)];
}

const mayBeSecret = (name: string) => secretNames.includes(name) || secretName.test(name);

/** Returns an address without its user, password, query and fragment; any other text as it is. */
export function withoutCredentials(value: string): string {
  const parsed = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? parseUrl(value) : null;
  return parsed === null
    ? value
    : `${parsed.protocol}//${parsed.host}${parsed.pathname === '/' ? '' : parsed.pathname}`;
}

// A value may be a list of addresses. A password may have a comma.
const passwordsOf = (value: string): string[] =>
  [value, ...value.split(',')].flatMap((each) => passwordsOfAddress(each.trim()));

function passwordsOfAddress(value: string): string[] {
  const parsed = value.includes('://') ? parseUrl(value) : null;
  if (parsed === null) return [];
  const inQuery = [...parsed.searchParams].flatMap(([name, each]) => (secretName.test(name) ? [each] : []));
  return [parsed.password, decode(parsed.password), ...inQuery].filter((each) => each !== '');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
