import { Ajv } from 'ajv';

/** Maximum size of a structured-output schema as JSON. */
export const maxSchemaBytes = 64 * 1_024;

// Only the meta-schema runs here. A user's schema is never compiled in this thread, because its patterns could take
// forever.
const ajv = new Ajv({ strict: false, allErrors: true, ownProperties: true, validateFormats: false });

/** Maximum depth of a schema: the code that reads it later is recursive. */
const maxDepth = 100;

/**
 * Returns the problem of a structured-output schema, or null. It must be an object, JSON Schema Draft 7, at most 64 KB,
 * without an external `$ref`. Many generators write a newer `$schema`; the schema is always read as Draft 7.
 */
export function schemaProblem(schema: unknown): string | null {
  const name = '"structuredOutputSchema"';
  if (schema === null || typeof schema !== 'object' || Array.isArray(schema)) {
    return `${name} must be a JSON object.`;
  }
  const inner = contentProblem(schema);
  if (inner !== null) return `${name} ${inner}`;
  const bytes = Buffer.byteLength(JSON.stringify(schema));
  if (bytes > maxSchemaBytes) return `${name} must be at most 64 KB (65,536 bytes) of JSON, but has ${bytes} bytes.`;
  const { $schema, ...rest } = schema as { $schema?: unknown };
  if ($schema !== undefined && typeof $schema !== 'string') return `${name} has a "$schema" that is not a string.`;
  if (!ajv.validateSchema(rest)) {
    const error = ajv.errors?.[0];
    return `${name} is not a JSON Schema (Draft 7): at "${error?.instancePath || '/'}" it ${error?.message ?? 'is wrong'}.`;
  }
  return null;
}

function contentProblem(schema: object): string | null {
  const open: { value: unknown; depth: number }[] = [{ value: schema, depth: 1 }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, depth } = next;
    if (typeof value === 'string' && (value.includes('\u0000') || !value.isWellFormed())) {
      return 'must not contain NUL characters or lone surrogates.';
    }
    if (value === null || typeof value !== 'object') continue;
    if (depth > maxDepth) return `must not nest deeper than ${maxDepth} levels.`;
    for (const [key, inner] of Object.entries(value)) {
      if (key === '$ref' && typeof inner === 'string' && !inner.startsWith('#')) {
        return `must be self-contained: "$ref" may only point inside it ("#…"), but one is ${JSON.stringify(inner.slice(0, 80))}.`;
      }
      open.push({ value: key, depth }, { value: inner, depth: depth + 1 });
    }
  }
  return null;
}
