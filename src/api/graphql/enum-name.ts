/** The schema's name of an enum value: `ViewOrgSessions` and `waiting_for_user` in upper snake case. */
export const enumName = (value: string): string => value.replace(/([a-z])([A-Z])/g, '$1_$2').toUpperCase();
