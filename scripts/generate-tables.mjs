// A generator of `prisma generate`: writes src/store/generated/tables.ts, the tables of prisma/schema as values and as types, for
// statements that Prisma's client cannot express. Plain JavaScript, because an installation without development packages runs it.
// The protocol is JSON-RPC, one message a line: requests on standard input, responses on standard error.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';

/** By Prisma's type: the type of a value as the drivers give it, and the SQL type where the schema names none. */
const scalars = {
  String: ['string', 'text'],
  Boolean: ['boolean', 'boolean'],
  Int: ['number', 'integer'],
  BigInt: ['number', 'bigint'],
  Float: ['number', 'double precision'],
  Decimal: ['string', 'numeric'],
  DateTime: ['Date', 'timestamptz'],
  Json: ['unknown', 'jsonb'],
  Bytes: ['Uint8Array', 'bytea'],
};

/** A field as it stands in the two halves of the file. Null: a relation, or a type that Prisma does not know. */
function describeField({ name, dbName, kind, type, nativeType, isList, isRequired, documentation }) {
  const scalar = kind === 'scalar' ? scalars[type] : undefined;
  if (scalar === undefined) return null;
  const [valueType, defaultType] = scalar;
  const sqlType = nativeType ? nativeType[0].toLowerCase() : defaultType;
  const item = isList ? `readonly ${valueType}[]` : valueType;
  const comment = documentation ? `/** ${documentation.replaceAll(/\s+/g, ' ')} */\n    ` : '';
  return {
    value: `${name}: { column: '${dbName ?? name}', type: '${sqlType}${isList ? '[]' : ''}' },`,
    type: `${comment}readonly ${name}: ${item}${isRequired || valueType === 'unknown' ? '' : ' | null'};`,
  };
}

function describeModel({ name, dbName, fields }) {
  const described = fields.map(describeField).filter((field) => field !== null);
  return {
    value: `  ${name}: {\n    name: '${dbName ?? name}',\n    columns: {\n${described.map(({ value }) => `      ${value}\n`).join('')}    },\n  },\n`,
    type: `  readonly ${name}: {\n${described.map(({ type }) => `    ${type}\n`).join('')}  };\n`,
  };
}

function generate({ generator, dmmf }) {
  const models = dmmf.datamodel.models.map(describeModel);
  const text = `// Written by scripts/generate-tables.mjs from prisma/schema: do not edit.

/** Tables by model: their names, and the columns and SQL types of their fields. */
export const tables = {
${models.map(({ value }) => value).join('')}} as const;

/** Rows by model, as the drivers give them under the names of the fields. */
export interface Rows {
${models.map(({ type }) => type).join('')}}
`;
  const path = generator.output.value;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const methods = {
  getManifest: () => ({
    manifest: { prettyName: 'tables of typed SQL', defaultOutput: '../src/store/generated/tables.ts' },
  }),
  generate: (params) => {
    generate(params);
    return null;
  },
};

createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const respond = (response) => process.stderr.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...response })}\n`);
  try {
    respond({ result: methods[method](params) });
  } catch (error) {
    respond({ error: { code: 0, message: error.message, data: { stack: error.stack } } });
  }
});
