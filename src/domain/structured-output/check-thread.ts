// The program of a thread that checks one output against one schema and ends. A user's schema is only ever compiled and
// run here: its patterns could take for ever, and its size all memory.
import { parentPort, workerData } from 'node:worker_threads';
import { Ajv, type ErrorObject } from 'ajv';
import addFormats from 'ajv-formats';

const ajv = new Ajv({ strict: false, allErrors: true, ownProperties: true, logger: false });
addFormats.default(ajv);
parentPort?.once('message', () => parentPort?.postMessage(check()));
// Only now the clock begins to run: a busy machine is not the schema's fault.
parentPort?.postMessage('ready');

function check(): { problems: string[] } | { broken: string } {
  const { schema, output } = workerData as { schema: string; output: string };
  // Whatever it says it is, it is read as Draft 7, and its name is nobody's.
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
