import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getOperationAST, parse, validate } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { schema } from '../../src/graphql/schema/index.ts';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { connect, follow } from '../support/sockets.ts';
import { root } from '../support/tree.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const page = readFileSync(join(root, 'docs/graphql.md'), 'utf8');
const blocks = [...page.matchAll(/^```graphql\n([\s\S]*?)^```/gm)].map(([, text]) => text as string);

/** What a reader has by then, for the "…" that is printed: the newest id of each kind that an answer gave. */
class Reader {
  private readonly ids = new Map<string, string>([['org', `org-${app.organizationId}`]]);

  /** A text of the page, with ids where it has "…". */
  fill(text: string): string {
    return text.replaceAll(/([a-z-]+)-…/g, (printed, kind: string) => {
      const id = this.ids.get(kind);
      if (id === undefined) throw new Error(`No answer before this block gave a "${printed}".`);
      return id;
    });
  }

  /** Remembers the ids of an answer. */
  see(answer: unknown): void {
    for (const [id, kind] of JSON.stringify(answer).matchAll(/(?<=")([a-z][a-z-]*)-[0-9a-f]{32}(?=")/g)) {
      this.ids.set(kind as string, id);
    }
  }
}

test('every document of the tour is answered, one after the other, as a reader would send them', async () => {
  const reader = new Reader();
  expect(blocks.length).toBeGreaterThan(4);
  for (const block of blocks) {
    const query = reader.fill(block);
    const document = parse(query);
    expect(validate(schema, document), block).toEqual([]);
    const variables = { id: query.includes('$id') ? reader.fill('devin-…') : undefined };
    if (getOperationAST(document)?.operation === 'subscription') {
      const [first] = await follow(connect(app.url, app.adminToken), query, variables).take(1);
      expect(first, block).toEqual({ data: expect.anything() });
      continue;
    }
    const { data, errors } = await graphql(app, app.adminToken, query, variables);
    expect(errors, block).toBe(undefined);
    expect(JSON.stringify(data).match(/"userErrors":\[[^\]]+\]/g), block).toBe(null);
    reader.see(data);
  }
});
