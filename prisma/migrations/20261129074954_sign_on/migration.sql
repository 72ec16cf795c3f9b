-- AlterTable
ALTER TABLE "console_session" ADD COLUMN     "provider_sid" TEXT,
ADD COLUMN     "user_id" TEXT,
ADD COLUMN     "user_identity_id" TEXT,
ALTER COLUMN "api_key_id" DROP NOT NULL;

-- CreateTable
CREATE TABLE "user_identity" (
    "id" TEXT NOT NULL,
    "enterprise_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "provider_id" TEXT NOT NULL,
    "issuer" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "groups" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_sign_in_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "user_identity_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "used_sign_on_value" (
    "hash" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "used_sign_on_value_pkey" PRIMARY KEY ("hash")
);

-- CreateIndex
CREATE UNIQUE INDEX "user_identity_enterprise_id_issuer_subject_key" ON "user_identity"("enterprise_id", "issuer", "subject");

-- CreateIndex
CREATE UNIQUE INDEX "user_identity_user_id_issuer_key" ON "user_identity"("user_id", "issuer");

-- CreateIndex
CREATE INDEX "used_sign_on_value_expires_at_idx" ON "used_sign_on_value"("expires_at");

-- CreateIndex
CREATE INDEX "console_session_user_identity_id_created_at_idx" ON "console_session"("user_identity_id", "created_at");

-- A session acts with a key or as a user.
ALTER TABLE "console_session" ADD CONSTRAINT "console_session_of_key_or_user" CHECK (("api_key_id" IS NULL) <> ("user_id" IS NULL));
