import { Ajv } from 'ajv';

/** The most that a structured-output schema may take as JSON (spec 8). */
export const maxSchemaBytes = 64 * 1_024;

// Only the meta-schema is run here: a user's schema is never compiled in this thread, its patterns could take for ever.
const ajv = new Ajv({ strict: false, allErrors: true, ownProperties: true, validateFormats: false });

/** What is wrong with a structured-output schema, or null: an object, JSON Schema Draft 7, at most 64 KB, no external `$ref`. */
export function schemaComplaint(schema: unknown): string | null {
  const name = '"structuredOutputSchema"';
  if (schema === null || typeof schema !== 'object' || Array.isArray(schema)) {
    return `${name} must be a JSON object.`;
  }
  const json = JSON.stringify(schema);
  const bytes = Buffer.byteLength(json);
  if (bytes > maxSchemaBytes) return `${name} must be at most 64 KB (65,536 bytes) of JSON, but has ${bytes} bytes.`;
  if (json.includes('\\u0000') || /\\ud[89a-f]/i.test(json))
    return `${name} must not contain NUL characters or lone surrogates.`;
  const external = findExternalReference(schema);
  if (external !== null) {
    return `${name} must be self-contained: "$ref" may only point inside it ("#…"), but one is ${JSON.stringify(external.slice(0, 80))}.`;
  }
  if (!ajv.validateSchema(schema)) {
    const error = ajv.errors?.[0];
    return `${name} is not a JSON Schema (Draft 7): at "${error?.instancePath || '/'}" it ${error?.message ?? 'is wrong'}.`;
  }
  return null;
}

function findExternalReference(schema: object): string | null {
  const open: unknown[] = [schema];
  while (open.length > 0) {
    const value = open.pop();
    if (value === null || typeof value !== 'object') continue;
    for (const [key, inner] of Object.entries(value)) {
      if (key === '$ref' && typeof inner === 'string' && !inner.startsWith('#')) return inner;
      open.push(inner);
    }
  }
  return null;
}
