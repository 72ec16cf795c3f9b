/** The schema's name of an enum value: `ViewOrgSessions`, `waiting_for_user` and `key-value` in upper snake case. */
export const enumName = (value: string): string =>
  value
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll(/\W/g, '_')
    .toUpperCase();
