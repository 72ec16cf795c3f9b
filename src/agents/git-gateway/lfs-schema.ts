import { z } from 'zod';

/** The maximum number of objects in a batch. The clients of git-lfs send 100. */
const maxObjects = 1_000;

const object = { oid: z.string().regex(/^[0-9a-f]{64}$/), size: z.number().int().nonnegative() };

/** A batch request, reduced to what the gateway passes on: only transfers over HTTP, which it understands. */
export const batchRequestSchema = z.object({
  operation: z.enum(['download', 'upload']),
  transfers: z.array(z.string()).optional(),
  ref: z.object({ name: z.string().max(1_000) }).nullish(),
  objects: z.array(z.object(object)).max(maxObjects),
  'hash_algo': z.literal('sha256').optional(),
});

const action = z.object({
  href: z.string(),
  header: z.record(z.string(), z.string()).nullish(),
  'expires_in': z.number().optional().catch(undefined),
  'expires_at': z.string().max(100).optional().catch(undefined),
});

/** A batch response. Other members, such as links to help pages, are not passed on. */
export const batchResponseSchema = z.object({
  transfer: z.literal('basic').nullish(),
  objects: z
    .array(
      z.object({
        ...object,
        actions: z.partialRecord(z.enum(['download', 'upload', 'verify']), action).nullish(),
        error: z.object({ code: z.number(), message: z.string() }).nullish(),
      }),
    )
    .max(maxObjects),
});

/** An action of a batch response. */
export type BatchAction = z.infer<typeof action>;
