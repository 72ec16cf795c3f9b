import { z } from 'zod';
import { refuse } from '../../../common/errors.ts';
import { isModelId, maxModelLength, modelIdRule } from '../../../providers/model-id.ts';
import type { Transaction } from '../../../store/store.ts';
import type { Context } from '../../context.ts';
import { canonicalJson } from '../../idempotency.ts';
import { text } from '../../input.ts';
import { requireAgent } from './agents.ts';

/** The model of an organization's sessions on an agent that choose none. */
export interface DefaultModel {
  readonly agentId: string;
  readonly model: string;
}

/** Maximum number of default models of an organization. */
const maxDefaultModels = 50;

/** A default model in an input. */
export const defaultModelSchema = z.object({
  agentId: z.string(),
  model: text('model', { min: 1, max: maxModelLength, isBlankRefused: true }).refine(isModelId, {
    error: `"model" must have only ${modelIdRule}.`,
  }),
});

/** The default models in an input: one for each agent. */
export const defaultModelsSchema = z
  .array(defaultModelSchema, { error: '"defaultModels" must be a list.' })
  .max(maxDefaultModels, `"defaultModels" must have at most ${maxDefaultModels} items.`)
  .refine((models) => new Set(models.map(({ agentId }) => agentId)).size === models.length, {
    error: '"defaultModels" must have each agent once.',
  });

/** Throws UNKNOWN_REFERENCE for an agent that does not exist. */
export function requireAgentsOf(context: Context, models: readonly DefaultModel[] | undefined): void {
  for (const { agentId } of models ?? []) requireAgent(context, 'defaultModels', agentId);
}

/** Returns the default models of these organizations, which the viewer may use, by unprefixed ids, in their order. */
export async function findDefaultModels(
  { store }: Pick<Context, 'store'>,
  organizationIds: readonly string[],
): Promise<DefaultModel[][]> {
  const rows = await store.prisma.organization.findMany({
    where: { id: { in: [...organizationIds] } },
    select: { id: true, defaultModels: true },
  });
  const found = new Map(rows.map(({ id, defaultModels }) => [id, toList(defaultModels)]));
  return organizationIds.map((id) => found.get(id) ?? []);
}

const toList = (stored: unknown): DefaultModel[] =>
  Object.entries(stored as Readonly<Record<string, string>>).map(([agentId, model]) => ({ agentId, model }));

/**
 * Replaces the default models of a locked organization. Returns the facts for the audit log; null if nothing changes.
 */
export async function writeDefaultModels(
  tx: Transaction,
  organizationId: string,
  models: readonly DefaultModel[],
): Promise<Record<string, string> | null> {
  const before = await tx.prisma.organization.findUnique({
    where: { id: organizationId },
    select: { defaultModels: true },
  });
  if (!before) throw refuse(['organizationId'], 'There is no such organization.', 'NOT_FOUND');
  const defaultModels = Object.fromEntries(models.map(({ agentId, model }) => [agentId, model]));
  if (canonicalJson(before.defaultModels) === canonicalJson(defaultModels)) return null;
  await tx.prisma.organization.update({ where: { id: organizationId }, data: { defaultModels }, select: { id: true } });
  return { defaultModels: canonicalJson(defaultModels), defaultModelsBefore: canonicalJson(before.defaultModels) };
}
