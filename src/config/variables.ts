import { z } from 'zod';
import { isSecret } from './forms.ts';
import { graphqlVariables } from './graphql.ts';
import { httpVariables } from './http.ts';
import { processVariables } from './process.ts';
import { retentionVariables } from './retention.ts';
import { sessionVariables } from './sessions.ts';
import { storageVariables } from './storage.ts';

/** Every variable: its meaning, form and default. Nothing else reads the environment. */
export const variables = z.object({
  ...processVariables,
  ...httpVariables,
  ...storageVariables,
  ...sessionVariables,
  ...retentionVariables,
  ...graphqlVariables,
});

/** The names of all variables. */
export const settingNames: readonly string[] = Object.keys(variables.shape);

/** The names of the variables that hold secrets, which `NAME_FILE` may give too. */
export const secretNames: readonly string[] = Object.entries(variables.shape).flatMap(([name, form]) =>
  isSecret(form) ? [name] : [],
);
