import { scimError } from './dialect.ts';

const coreSchema = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/;

/** Returns the name of an attribute as it is compared: lower case, without the URI of a core schema. */
export const attributeName = (name: string): string => name.toLowerCase().replace(coreSchema, '');

/** The values of attributes by their {@link attributeName}; a part of `name` is `name.givenname`, for example. */
export type Attributes = ReadonlyMap<string, unknown>;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads the attributes of a resource, or of a change without a path, as an object has them. Names with dots stand for parts. */
export function readAttributes(resource: unknown): Map<string, unknown> {
  if (!isObject(resource)) throw scimError('invalidSyntax', 'The value must be an object of attributes.');
  const attributes = new Map<string, unknown>();
  for (const [name, value] of Object.entries(resource)) {
    for (const [path, each] of readAttribute(attributeName(name), value)) attributes.set(path, each);
  }
  return attributes;
}

/** Returns the value of an attribute, or those of the parts of a complex one. */
export function readAttribute(path: string, value: unknown): [string, unknown][] {
  if (path !== 'name' || !isObject(value)) return [[path, value]];
  return Object.entries(value).map(([part, each]) => [`name.${attributeName(part)}`, each]);
}

// The names as messages write them; others are in lower case.
const shownNames = ['userName', 'displayName', 'externalId', 'name.givenName', 'name.familyName'];
const shown = (path: string) => shownNames.find((name) => name.toLowerCase() === path) ?? path;

/** Returns a text or null; undefined if the attribute is missing. */
export function textOf(attributes: Attributes, path: string): string | null | undefined {
  const value = attributes.get(path);
  if (value === undefined || value === null || typeof value === 'string') return value;
  throw scimError('invalidValue', `"${shown(path)}" must be a text.`);
}

/** Returns a boolean, also from the texts "True" and "False", which Entra ID sends; undefined if the attribute is missing. */
export function booleanOf(attributes: Attributes, path: string): boolean | undefined {
  const value = attributes.get(path);
  if (value === undefined || typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value.toLowerCase() : '';
  if (text === 'true' || text === 'false') return text === 'true';
  throw scimError('invalidValue', `"${path}" must be true or false.`);
}
