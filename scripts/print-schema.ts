// Prints the GraphQL schema to schema.graphql, which is committed and checked.
import { writeFileSync } from 'node:fs';
import { schema } from '../src/api/graphql/schema/index.ts';
import { printContract } from './printed-schema.ts';

writeFileSync('schema.graphql', printContract(schema));
