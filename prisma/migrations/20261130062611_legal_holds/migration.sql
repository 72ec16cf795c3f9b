-- CreateTable
CREATE TABLE "legal_hold" (
    "id" TEXT NOT NULL,
    "enterprise_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "target_id" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "user_id" TEXT,
    "service_user_id" TEXT,
    "service_key_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "released_at" TIMESTAMPTZ(3),
    "released_by_user_id" TEXT,
    "released_by_service_user_id" TEXT,
    "released_by_service_key_id" TEXT,

    CONSTRAINT "legal_hold_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "legal_hold_enterprise_id_created_at_id_idx" ON "legal_hold"("enterprise_id", "created_at", "id");

-- Each deletion looks up the holds that last.
CREATE INDEX "legal_hold_lasting" ON "legal_hold" ("target_id") WHERE "released_at" IS NULL;
