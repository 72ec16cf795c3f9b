import { z } from 'zod';
import { variables } from './environment-schema.ts';

// The package of an agent in the ACP registry.
const distributedPackage = z.strictObject({
  package: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: variables.default({}),
});

/** `distribution` of the ACP registry's format. */
export const distributionSchema = z.strictObject({
  npx: distributedPackage.optional(),
  uvx: distributedPackage.optional(),
  binary: z.unknown().optional(),
});

/** Registry fields besides `id`, `name` and `distribution`; they have no effect here. */
export const registryFields = {
  version: z.unknown().optional(),
  description: z.unknown().optional(),
  repository: z.unknown().optional(),
  website: z.unknown().optional(),
  authors: z.unknown().optional(),
  license: z.unknown().optional(),
  'license_url': z.unknown().optional(),
  icon: z.unknown().optional(),
};

/** The command and variables of a distribution; null if it has none that can be run directly. */
export function startOf(distribution: z.output<typeof distributionSchema> | undefined): {
  command: string[];
  env: Record<string, string>;
} | null {
  const { npx, uvx } = distribution ?? {};
  if (npx) return { command: ['npx', '-y', npx.package, ...npx.args], env: npx.env };
  return uvx ? { command: ['uvx', uvx.package, ...uvx.args], env: uvx.env } : null;
}
