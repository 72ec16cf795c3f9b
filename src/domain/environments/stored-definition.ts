import { z } from 'zod';
import { withLimits } from '../value-limits.ts';
import { maxDefinitionBytes } from './definition.ts';
import { readDefinition } from './read-definition.ts';

/** The definition of an environment in inputs. It has one issue for each problem, whose message begins with the line. */
export const storedDefinitionSchema: z.ZodType<string, string> = withLimits(
  z.string({ error: '"environmentDefinition" must be a text.' }).check((check) => {
    for (const { line, message } of readDefinition(null, check.value).problems) {
      const where = line === null ? '"environmentDefinition"' : `"environmentDefinition", line ${line}`;
      check.issues.push({ code: 'custom', message: `${where}: ${message}`, input: check.value });
    }
  }),
  { maxLength: maxDefinitionBytes },
);
