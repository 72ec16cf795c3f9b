-- CreateTable
CREATE TABLE "console_session" (
    "id" TEXT NOT NULL,
    "token_hash" TEXT NOT NULL,
    "api_key_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "console_session_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "console_link" (
    "id" TEXT NOT NULL,
    "code_hash" TEXT NOT NULL,
    "api_key_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "console_link_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "console_session_token_hash_key" ON "console_session"("token_hash");

-- CreateIndex
CREATE INDEX "console_session_api_key_id_created_at_idx" ON "console_session"("api_key_id", "created_at");

-- CreateIndex
CREATE INDEX "console_session_expires_at_idx" ON "console_session"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "console_link_code_hash_key" ON "console_link"("code_hash");

-- CreateIndex
CREATE INDEX "console_link_expires_at_idx" ON "console_link"("expires_at");
