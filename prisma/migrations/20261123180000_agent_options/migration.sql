-- AlterTable
ALTER TABLE "session" ADD COLUMN     "agent_options" JSONB;

-- CreateTable
CREATE TABLE "agent_observation" (
    "organization_id" TEXT NOT NULL,
    "profile_id" TEXT NOT NULL,
    "version" TEXT NOT NULL,
    "offer" JSONB NOT NULL,
    "observed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "agent_observation_pkey" PRIMARY KEY ("organization_id","profile_id","version")
);

-- CreateIndex
CREATE INDEX "agent_observation_profile_id_observed_at_idx" ON "agent_observation"("profile_id", "observed_at" DESC);
