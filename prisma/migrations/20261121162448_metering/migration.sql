-- AlterTable
ALTER TABLE "enterprise" ADD COLUMN     "max_cycle_acu_limit" INTEGER;

-- AlterTable
ALTER TABLE "run" ADD COLUMN     "agent_cost_usd" DOUBLE PRECISION NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "usage" ADD COLUMN     "active_ms" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "cached_tokens" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN     "cost_usd" DOUBLE PRECISION NOT NULL DEFAULT 0,
ADD COLUMN     "input_tokens" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN     "llm_calls" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "output_tokens" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN     "source" TEXT;

-- What Prisma cannot say: who waits for too long is found without a look at the others.
CREATE INDEX "session_at_work" ON "session"("updated_at", "id") WHERE "status" = 'running';
CREATE INDEX "session_asleep" ON "session"("updated_at", "id") WHERE "status" = 'suspended';
