import { authenticate } from '../../src/auth/authenticate.ts';
import type { Context } from '../../src/domain/context.ts';
import { call, type TestApp } from '../rest/rest-app.ts';
import { graphql } from '../support/app.ts';
import { mutationDocument } from '../support/mutations.ts';

/** Part of every text that a caller writes for an agent: no audit entry may contain it. */
export const agentText = 'w0rds-for-the-agent';

/** A caller: by REST, by GraphQL, and by the domain for actions without an API. */
export interface Actor {
  readonly app: TestApp;
  readonly rest: (method: string, path: string, body?: unknown) => Promise<any>;
  readonly mutate: (field: string, input: Record<string, unknown>, selection: string) => Promise<any>;
  readonly context: () => Promise<Context>;
}

/** Creates an actor from a token. A refusal is an error. */
export function createActor(app: TestApp, token: string): Actor {
  return {
    app,
    async rest(method, path, body) {
      const answer = await call(app, token, method, path, body);
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body;
    },
    async mutate(field, input, selection) {
      const document = mutationDocument(field, `${selection} userErrors { message }`);
      const { data, errors } = await graphql(app, token, document, { input });
      if (errors || data[field].userErrors.length > 0) throw new Error(JSON.stringify({ data, errors }));
      return data[field];
    },
    async context() {
      const { services } = app.app;
      return { ...services, viewer: await authenticate(services, token, null), address: '127.0.0.1' };
    },
  };
}

/** The expected entry: ids in REST's form. */
export interface Expected {
  /** Null: an object without an id. */
  readonly target: string | null;
  /** Null: the enterprise itself. */
  readonly organization: string | null;
  readonly session?: string;
}

/** Acts in, or on, a separate organization. */
export type AuditedAction = (actor: Actor, organization: string) => Promise<Expected>;
