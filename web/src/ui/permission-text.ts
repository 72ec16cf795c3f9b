import { permissions as texts } from '../texts/permissions.ts';

const names: Readonly<Record<string, string>> = texts.names;
const acts: Readonly<Record<string, string>> = texts.acts;

/** Returns the name of a permission for display; an unknown one as it is. */
export const permissionName = (permission: string): string => names[permission] ?? permission;

const missing = /\bMissing permission ([A-Z_]+)\./g;
const constants = new RegExp(`\\b(?:${Object.keys(names).join('|')})\\b`, 'g');

/** Returns a message of the service with the names of permissions in words, and advice for a missing one. */
export function withPermissionNames(message: string): string {
  return message
    .replace(missing, (found, permission: string) =>
      acts[permission] === undefined
        ? found
        : texts.missing({ act: acts[permission], name: permissionName(permission) }),
    )
    .replace(constants, (permission) => texts.quoted({ name: permissionName(permission) }));
}
