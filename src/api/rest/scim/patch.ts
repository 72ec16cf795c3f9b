import { z } from '@hono/zod-openapi';
import { scimError } from './dialect.ts';

/** The maximum number of operations of a request. */
const maxOperations = 1_000;

/** The body of a PATCH (RFC 7644, 3.5.2). */
export const patchBody = z.object({
  Operations: z
    .array(
      z.object({
        op: z.string(),
        path: z.string().nullish(),
        value: z.unknown().optional(),
      }),
    )
    .max(maxOperations, `"Operations" must have at most ${maxOperations} members.`),
});

/** An operation of a PATCH. */
export interface Operation {
  readonly op: 'add' | 'replace' | 'remove';
  /** Null: the value is an object of attributes. */
  readonly path: string | null;
  readonly value: unknown;
}

/** Reads the operations of a PATCH. Entra ID begins their names with a capital letter. */
export function readOperations({ Operations }: z.output<typeof patchBody>): Operation[] {
  return Operations.map(({ op: name, path = null, value }) => {
    const op = name.toLowerCase();
    if (op !== 'add' && op !== 'replace' && op !== 'remove') {
      throw scimError(
        'invalidSyntax',
        `"op" must be add, replace or remove, but was ${JSON.stringify(name.slice(0, 60))}.`,
      );
    }
    if (path === null && op === 'remove') throw scimError('noTarget', 'An operation "remove" needs a path.');
    if (value === undefined && op !== 'remove') throw scimError('invalidValue', `An operation "${op}" needs a value.`);
    return { op, path, value };
  });
}
