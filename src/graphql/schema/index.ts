import type { GraphQLSchema } from 'graphql';
import { builder } from '../builder.ts';
import './administration.ts';
import './events.ts';
import './node.ts';
import './organizations.ts';
import './session-mutations.ts';
import './sessions.ts';
import './subscriptions.ts';
import './viewer.ts';

/** The whole schema, built once. */
export const schema: GraphQLSchema = builder.toSchema({ sortSchema: true });
