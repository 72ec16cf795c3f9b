-- AlterTable
ALTER TABLE "run" ADD COLUMN     "budget_key_id" TEXT;


-- By hand: what the schema file cannot say.
CREATE INDEX "run_budget_key_id" ON "run"("budget_key_id") WHERE "budget_key_id" IS NOT NULL;
