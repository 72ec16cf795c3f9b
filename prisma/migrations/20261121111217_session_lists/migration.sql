-- CreateTable
CREATE TABLE "offset_walk" (
    "key" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "settled_at" TIMESTAMPTZ(3),
    "settled_id" TEXT,
    "head_count" INTEGER NOT NULL,
    "has_begun" BOOLEAN NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "offset_walk_pkey" PRIMARY KEY ("key")
);

-- CreateIndex
CREATE INDEX "offset_walk_started_at_idx" ON "offset_walk"("started_at");

-- CreateIndex
CREATE INDEX "session_created_at_id_idx" ON "session"("created_at" DESC, "id" DESC);

-- By hand: what the schema file cannot say.

-- Lists of the sessions of one playbook, automation, user or service user. Partial: a session is written on every message,
-- and has an entry only where it has such an id. Without the organization: the ids are of one tenant by themselves.
CREATE INDEX "session_playbook" ON "session"("playbook_id", "created_at" DESC, "id" DESC) WHERE "playbook_id" IS NOT NULL;
CREATE INDEX "session_automation" ON "session"("automation_id", "created_at" DESC, "id" DESC) WHERE "automation_id" IS NOT NULL;
CREATE INDEX "session_user" ON "session"("user_id", "created_at" DESC, "id" DESC) WHERE "user_id" IS NOT NULL;
CREATE INDEX "session_service_user" ON "session"("service_user_id", "created_at" DESC, "id" DESC)
  WHERE "service_user_id" IS NOT NULL;
