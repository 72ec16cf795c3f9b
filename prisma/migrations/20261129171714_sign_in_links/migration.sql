-- CreateTable
CREATE TABLE "sign_in_link" (
    "for_user_id" TEXT NOT NULL,
    "enterprise_id" TEXT NOT NULL,
    "code_hash" TEXT NOT NULL,
    "user_id" TEXT,
    "service_user_id" TEXT,
    "service_key_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_in_link_pkey" PRIMARY KEY ("for_user_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "sign_in_link_code_hash_key" ON "sign_in_link"("code_hash");

-- CreateIndex
CREATE INDEX "sign_in_link_expires_at_idx" ON "sign_in_link"("expires_at");

-- CreateIndex
CREATE INDEX "console_session_user_id_created_at_idx" ON "console_session"("user_id", "created_at");
