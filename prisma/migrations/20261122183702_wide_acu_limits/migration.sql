-- AlterTable
ALTER TABLE "enterprise" ALTER COLUMN "max_cycle_acu_limit" SET DATA TYPE BIGINT;

-- AlterTable
ALTER TABLE "organization" ALTER COLUMN "max_cycle_acu_limit" SET DATA TYPE BIGINT,
ALTER COLUMN "max_session_acu_limit" SET DATA TYPE BIGINT;

-- AlterTable
ALTER TABLE "session" ALTER COLUMN "max_acu_limit" SET DATA TYPE BIGINT;
