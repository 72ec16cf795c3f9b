// Prints the GraphQL schema to schema.graphql, which is committed and checked.
import { writeFileSync } from 'node:fs';
import { printSchema } from 'graphql';
import { schema } from '../src/graphql/schema/index.ts';

writeFileSync('schema.graphql', `${printSchema(schema)}\n`);
