-- CreateTable
CREATE TABLE "agent_program" (
    "worker_id" TEXT NOT NULL,
    "agent_id" TEXT NOT NULL,
    "enterprise_id" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "version" TEXT,
    "source" TEXT,
    "path" TEXT,
    "has_key" BOOLEAN NOT NULL,
    "can_install" BOOLEAN NOT NULL,
    "request" TEXT,
    "progress" TEXT,
    "progress_percent" INTEGER,
    "error" TEXT,
    "checked_at" TIMESTAMPTZ(3),
    "check_report" JSONB,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "agent_program_pkey" PRIMARY KEY ("worker_id","agent_id")
);
