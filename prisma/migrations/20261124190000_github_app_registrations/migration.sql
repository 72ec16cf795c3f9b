-- CreateTable
CREATE TABLE "github_app_registration" (
    "id" TEXT NOT NULL,
    "enterprise_id" TEXT NOT NULL,
    "api_key_id" TEXT NOT NULL,
    "state_hash" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "github_organization" TEXT,
    "used_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "github_app_registration_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "github_app_registration_state_hash_key" ON "github_app_registration"("state_hash");

-- CreateIndex
CREATE INDEX "github_app_registration_enterprise_id_created_at_idx" ON "github_app_registration"("enterprise_id", "created_at");

-- CreateIndex
CREATE INDEX "github_app_registration_expires_at_idx" ON "github_app_registration"("expires_at");
