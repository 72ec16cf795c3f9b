/** The name that an enum of the schema gives a value of ours: `ViewOrgSessions` and `waiting_for_user` in upper case. */
export const enumName = (value: string): string => value.replace(/([a-z])([A-Z])/g, '$1_$2').toUpperCase();
