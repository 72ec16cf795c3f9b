import { createdCursor } from '../../../domain/sorted-pages.ts';
import { builder } from '../builder.ts';
import { lowerFirst, typedResources } from './resources.ts';

/** An object with a position in a list sorted by creation time. */
interface Created {
  readonly id: string;
  readonly createdAt: Date;
}

/**
 * Adds the edge of the created object to the payload of its creation: `playbookEdge` beside `playbook`. Clients insert it into their
 * cached lists.
 */
for (const { typeName, created } of typedResources) {
  if (!created) continue;
  const member = lowerFirst(typeName);
  builder.objectField(created.payload, `${member}Edge`, (t) =>
    t.field({
      type: created.edge,
      nullable: true,
      description: `Edge of \`${member}\` for lists that a client keeps. The cursor is for lists ordered by \`CREATED_AT\`. Null if \`userErrors\` is not empty.`,
      resolve: (result) => {
        const node = (result as Readonly<Record<string, Created | null>>)[member] ?? null;
        return (node && { cursor: createdCursor(created.list, node), node }) as never;
      },
    }),
  );
}
