// The program of a thread that checks one output against one schema and ends. A user's schema is only ever compiled and
// run here: its patterns could take forever, and its size all memory.
import { Ajv, type ErrorObject } from 'ajv';
import addFormats from 'ajv-formats';
import { serveTasks } from '../../../threads/serve-tasks.ts';
import type { CheckAnswer, CheckQuestion } from './check-output.ts';

const ajv = new Ajv({ strict: false, allErrors: true, ownProperties: true, logger: false });
addFormats.default(ajv);
serveTasks(check);

function check({ schema, output }: CheckQuestion): CheckAnswer {
  // Always read as Draft 7, whatever `$schema` it has, and without its `$id`.
  const { $schema: _schema, $id: _id, ...rest } = JSON.parse(schema) as Record<string, unknown>;
  let isValid: ReturnType<typeof ajv.compile>;
  try {
    isValid = ajv.compile(rest);
  } catch (error) {
    return { broken: (error as Error).message };
  }
  return { problems: isValid(JSON.parse(output)) ? [] : (isValid.errors ?? []).slice(0, 20).map(describe) };
}

function describe({ instancePath, message, params }: ErrorObject): string {
  const { allowedValues, additionalProperty } = params as { allowedValues?: unknown; additionalProperty?: unknown };
  const detail =
    allowedValues === undefined
      ? additionalProperty === undefined
        ? ''
        : ` (${JSON.stringify(additionalProperty)})`
      : `: ${JSON.stringify(allowedValues)}`;
  return `at "${instancePath || '/'}" it ${message ?? 'is wrong'}${detail}`;
}
